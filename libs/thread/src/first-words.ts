// The first words of a message, in one line: what a list shows of a thread that has no title.
import type { Content } from './content.ts';

const charactersMax = 120;
/** Of a text's beginning: the rest cannot be in the first words, unless it begins with more white space than this. */
const readCharactersMax = 4_096;

/** White space and control characters, those of text direction among them. */
const gaps = /[\s\p{Cc}\p{Bidi_Control}]+/gu;

/** Null for a message without words. */
export function firstWords(content: Content): string | null {
  const texts = content.flatMap((item) => (item.type === 'text' ? ['text' in item ? item.text : item.preview] : []));
  const line = texts.join(' ').slice(0, readCharactersMax).replaceAll(gaps, ' ').trim();
  const words = Array.from(line.toWellFormed()).slice(0, charactersMax).join('').trimEnd();
  return words === '' ? null : words;
}
