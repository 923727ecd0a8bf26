// Makes text from elsewhere harmless for a terminal: the text of a tool or a model must not move the cursor, change the
// title, hide itself or reverse the line. R100
import { stripVTControlCharacters } from 'node:util';

// Control characters but tab and line feed, and the characters that change the direction of what follows.
const dangerous = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;
const dangerousInJson = /\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** Several lines stay several lines. */
export const cleanText = (text: string): string =>
  stripVTControlCharacters(text.replaceAll('\r\n', '\n')).replaceAll(dangerous, '');

/** One line, at most `charactersMax` of them when given. */
export function cleanLine(text: string, charactersMax: number = Number.POSITIVE_INFINITY): string {
  const line = cleanText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`;
}

/** JSON on one line; what could harm a terminal is escaped, so nothing is lost. */
export function cleanJson(value: unknown): string {
  const escape = (character: string): string =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  return JSON.stringify(value).replaceAll(dangerousInJson, escape);
}
