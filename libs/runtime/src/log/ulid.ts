// 26 characters of Crockford's alphabet: a time, then 80 bits. They sort by time.
// By hand: time and bytes are arguments, since ids are functions of the log; the package `ulid` draws each character.
//
// Invariant:
//   U1. Characters are made two at a time, and those of the time once per millisecond: a thousand ids are made per
//       second, and every piece that a text is joined from costs.

/** No I, L, O, U. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const pairs = Array.from({ length: 1_024 }, (_, ten) => alphabet.charAt(ten >> 5) + alphabet.charAt(ten & 31));
const timePairs = 5;
let lastTime = { milliseconds: 0, text: '0000000000' };

/** `bytes`: ten or more, a character for each. */
export const ulid = (milliseconds: number, bytes: string): string =>
  timeText(milliseconds) + fortyBits(bytes, 0) + fortyBits(bytes, 5);

function timeText(milliseconds: number): string {
  if (lastTime.milliseconds === milliseconds) return lastTime.text; // (U1)
  let text = '';
  for (let rest = milliseconds, pair = 0; pair < timePairs; pair++, rest = Math.floor(rest / 1_024))
    text = pairs[rest % 1_024] + text;
  lastTime = { milliseconds, text };
  return text;
}

function fortyBits(bytes: string, from: number): string {
  const high = (bytes.charCodeAt(from) << 12) | (bytes.charCodeAt(from + 1) << 4) | (bytes.charCodeAt(from + 2) >> 4);
  const low =
    ((bytes.charCodeAt(from + 2) & 15) << 16) | (bytes.charCodeAt(from + 3) << 8) | bytes.charCodeAt(from + 4);
  return `${pairs[high >> 10]}${pairs[high & 1_023]}${pairs[low >> 10]}${pairs[low & 1_023]}`;
}
