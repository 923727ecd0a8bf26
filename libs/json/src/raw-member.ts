/**
 * Owns: cutting one member of a JSON object out of its text, character for character.
 * Not here: checking the text; it must have been accepted by `checkJson` before.
 *
 * 1. The slice holds every digit, escape and space as it was sent; only white space around it is left out.
 */
import { findingEndOfString, keyBetween, nearEndOfString, stepCharacters } from './scan.ts';
import type { Steps } from './steps.ts';

/**
 * The text of the value of top-level member `name`, step by step; undefined if `text` is no object or lacks the member.
 * RAP view updates: content is stored and forwarded exactly as it was received. R98
 */
export function* rawMember(text: string, name: string): Steps<string | undefined> {
  let index = skipSpace(text, 0);
  if (text[index] !== '{') return undefined;
  for (let rest = stepCharacters; text[index] === '{' || text[index] === ',';) {
    if (index >= rest) {
      rest = index + stepCharacters;
      yield;
    }
    const keyStart = skipSpace(text, index + 1);
    if (text[keyStart] !== '"') return undefined; // an empty object
    const keyEnd = nearEndOfString(text, keyStart) ?? (yield* findingEndOfString(text, keyStart));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd + 1) + 1);
    const valueEnd = yield* findingEndOfValue(text, valueStart);
    if (keyBetween(text, keyStart, keyEnd) === name) return text.slice(valueStart, valueEnd);
    index = skipSpace(text, valueEnd);
  }
  return undefined;
}

const outsideSpace = /[^ \n\r\t]/g;

function skipSpace(text: string, start: number): number {
  outsideSpace.lastIndex = start;
  return outsideSpace.exec(text)?.index ?? text.length;
}

/** Index after the value that starts at `start`: its closing bracket or quote, or its last letter or digit. */
function* findingEndOfValue(text: string, start: number): Steps<number> {
  let depth = 0;
  let rest = start + stepCharacters;
  for (let index = start; index < text.length; index++) {
    if (index >= rest) {
      rest = index + stepCharacters;
      yield;
    }
    const character = text[index];
    if (character === '"') {
      index = nearEndOfString(text, index) ?? (yield* findingEndOfString(text, index));
      if (depth === 0) return index + 1;
    } else if (character === '{' || character === '[') {
      depth++;
    } else if (character === '}' || character === ']') {
      if (depth === 0) return index;
      if (--depth === 0) return index + 1;
    } else if (depth === 0 && (character === ',' || isSpace(character))) {
      return index;
    }
  }
  return text.length;
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t';
}
