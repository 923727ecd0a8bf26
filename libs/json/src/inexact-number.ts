/**
 * Owns: finding a number in JSON text that reading into a double would change: above all an integer beyond 2^53, such
 * as the ids of many services.
 * Not here: syntax; the text must have been accepted by `checkJson` before.
 *
 * 1. A number counts by its value: `1e20` and `100000000000000000000` are equal, and a double writes it back as that.
 * 2. Below 2^53 no number is reported: there only digits after the decimal point are rounded, as every reader does.
 * 3. It is linear in the length of the text, whatever the text is; nearly all texts cost one native search.
 */
import { rawMember } from './raw-member.ts';
import { resultOf } from './steps.ts';

/** Only a number with so many digits in a row, or with an exponent, can be beyond 2^53. */
const suspicious = /\d{16}|\d[eE]/;
const number = /-?\d[\d.eE+-]*/y;

/** The first such number, as it is written; null when there is none. */
export function inexactNumber(text: string): string | null {
  if (!suspicious.test(text)) return null; // (3)
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === '-' || (character !== undefined && character >= '0' && character <= '9')) {
      number.lastIndex = index;
      const written = number.exec(text)?.[0] ?? character;
      if (!isExact(written)) return written;
      index += written.length - 1;
    }
  }
  return null;
}

/** The same for the value of one top-level member. */
export function inexactNumberOf(text: string, member: string): string | null {
  return inexactNumber(resultOf(rawMember(text, member)) ?? '');
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

function isExact(written: string): boolean {
  const value = Number(written);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true; // (2)
  return Number.isFinite(value) && normal(written) === normal(String(value));
}

/** Digits without zeros at either end, and the power of ten of the last one. (1) */
function normal(written: string): string {
  const [mantissa = '', exponent = '0'] = written.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`;
  let [from, to] = [0, digits.length];
  while (digits[from] === '0') from++;
  while (to > from && digits[to - 1] === '0') to--;
  return `${digits.slice(from, to)}e${Number(exponent) - fraction.length + digits.length - to}`;
}
