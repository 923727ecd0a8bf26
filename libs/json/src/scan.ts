/**
 * Owns: the pass over JSON text that `JSON.parse` cannot replace, which counts; and where a string ends.
 * Not here: syntax (the reader of the text judges it). On broken JSON every function ends; its answer means nothing.
 *
 * 1. Everything is linear in the length of the text and recursion-free, whatever the text is.
 * 2. Whatever may run over megabytes can run in steps of `stepCharacters`.
 */
import { pointerCharactersMax } from './limits.ts';
import { resultOf, type Steps } from './steps.ts';

/** The number of characters in one step. (2) */
export const stepCharacters = 131_072;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The end of a longer string is found by a native search, which is faster per character, slower per call. */
const shortStringCharacters = 24;
/** A string with more escapes than this is read character by character to its end. */
const escapesMax = 16;
/** A key with more characters than this, however spelled, is longer than any pointer and any name of this library. */
const keyCharactersMax = 6 * pointerCharactersMax;
/** Text that is neither a string nor structure, and longer than this, is skipped by a native search. */
const shortGapCharacters = 32;
const structure = /["{}[\],:]/;
const quoteOrBackslash = /["\\]/;

/** The result of one scan. */
export interface JsonScan {
  /** Object members: a colon outside a string separates exactly one, so no key has to be read. */
  readonly members: number;
  /** Whether any key is spelled with a backslash. */
  readonly escapedKeys: boolean;
}

/** A container that is nested too deep, by the keys and indexes that lead to the one that contains it. */
export interface TooDeep {
  readonly tooDeep: readonly string[];
}

/** An open container: the position of its current member's key, and the index of its current item. */
interface Level {
  keyStart: number;
  keyEnd: number;
  item: number;
}

/**
 * Scans `text` to the first container nested more than `depthMax` deep, or to the first value beyond `valuesMax`
 * (`'too many'`): values are a few bytes each, and cost a reader far more than the same bytes of a string.
 */
export function* scanningJson(
  text: string,
  depthMax: number,
  valuesMax: number,
): Steps<JsonScan | TooDeep | 'too many'> {
  const levels: Level[] = [];
  let level: Level | undefined;
  let values = 1;
  let gap = 0;
  let members = 0;
  let escapedKeys = false;
  let keyStart = 0;
  let keyEnd = 0;
  let rest = stepCharacters;
  for (let index = 0; index < text.length; index++) {
    if (index >= rest) {
      rest = index + stepCharacters;
      yield;
    }
    switch (text.charCodeAt(index)) {
      case quote:
        keyStart = index;
        index = nearEndOfString(text, index) ?? (yield* findingEndOfString(text, index));
        keyEnd = index;
        break;
      case colon:
        if (++members > valuesMax) return 'too many'; // more than commas only in broken JSON
        if (!escapedKeys) escapedKeys = text.slice(keyStart, keyEnd).includes('\\');
        if (level !== undefined) [level.keyStart, level.keyEnd] = [keyStart, keyEnd];
        keyStart = keyEnd; // in broken JSON many colons may follow one key
        break;
      case comma:
        if (++values > valuesMax) return 'too many';
        if (level !== undefined) level.item++;
        break;
      case openBrace:
      case openBracket:
        if (levels.length === depthMax) return { tooDeep: levels.map((open) => segmentOf(text, open)) };
        if (++values > valuesMax) return 'too many';
        level = { keyStart: -1, keyEnd: -1, item: 0 };
        levels.push(level);
        break;
      case closeBrace:
      case closeBracket:
        levels.pop();
        level = levels.at(-1);
        break;
      default:
        if (++gap <= shortGapCharacters) continue;
        index = nextStructure(text, index) - 1;
    }
    gap = 0;
  }
  return { members, escapedKeys };
}

const segmentOf = (text: string, { keyStart, keyEnd, item }: Level): string =>
  keyStart === keyEnd ? String(item) : keyBetween(text, keyStart, keyEnd);

/** Whether any key is spelled with a backslash. */
export function hasEscapedKeys(text: string): boolean {
  const scan = resultOf(scanningJson(text, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
  return typeof scan === 'object' && 'escapedKeys' in scan && scan.escapedKeys;
}

/** The position where structure goes on, or where the next step begins. */
function nextStructure(text: string, from: number): number {
  const step = text.slice(from, from + stepCharacters);
  const found = step.search(structure);
  return from + (found === -1 ? step.length : found);
}

/** Index of the quote that closes the string opened at `start`, when it is near. */
export function nearEndOfString(text: string, start: number): number | undefined {
  const near = Math.min(text.length, start + shortStringCharacters);
  for (let index = start + 1; index < near; index++) {
    const unit = text.charCodeAt(index);
    if (unit === quote) return index;
    if (unit === backslash) index++;
  }
  return undefined;
}

/** The same at any distance, step by step; the length of the text if the string is not closed. */
export function* findingEndOfString(text: string, start: number): Steps<number> {
  let index = start + 1;
  for (let escapes = 0; ;) {
    const until = Math.min(text.length, index + stepCharacters);
    while (index < until && escapes < escapesMax) {
      const found = text.slice(index, until).search(quoteOrBackslash);
      if (found === -1) index = until;
      else if (text.charCodeAt(index + found) === quote) return index + found;
      else {
        index += found + 2;
        escapes++;
      }
    }
    for (; index < until; index++) {
      const unit = text.charCodeAt(index);
      if (unit === quote) return index;
      if (unit === backslash) index++;
    }
    if (index >= text.length) return text.length;
    yield;
  }
}

/** The key between the quotes at `start` and `end`, unescaped; the raw text if an escape is broken or it is long. */
export function keyBetween(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (raw.length > keyCharactersMax || !raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
