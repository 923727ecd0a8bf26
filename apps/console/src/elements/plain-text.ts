// Text of strangers (names, arguments, errors) made honest for a reader: what would hide or turn round is shown by its
// number.

// Control characters but tab and line feed, and what changes the direction of text or is not seen.
const deceiving = /(?![\t\n])\p{Cc}|[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Several lines stay several lines. */
export const plainText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(
      deceiving,
      (character) => `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    );

/** One line, at most `charactersMax` of it. */
export function plainLine(text: string, charactersMax = 240): string {
  const line = plainText(text.slice(0, charactersMax * 4))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`;
}
