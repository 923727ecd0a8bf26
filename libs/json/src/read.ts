/**
 * Owns: turning JSON text into a value, exactly. Use it instead of `JSON.parse` wherever a key may come from outside.
 * Not here: judging foreign text; that is `checkJson`, which reads through this file too.
 *
 * 1. V8 12.8 and later can read an escaped key as another key: after `{"a":1,"\\":2}` was parsed anywhere in the
 *    process, `JSON.parse('{"a":1,"\\u0061":2}')` answers a key `\` (nodejs/node#63785, still open for Node 24). A log
 *    that is read back must have the keys that were written, so text with an escaped key is read by the reader of this
 *    library. `read.spec.ts` has a spec that fails once `JSON.parse` is mended.
 * 2. Text without a backslash, which is nearly all of it, costs one native search more than `JSON.parse`.
 * 3. That reader works in steps of some thousand values or `stepCharacters`, for any text, and is recursion-free.
 * 4. It fails only for syntax, never for a meaning; the first fault that `checkJson` refuses is returned, too.
 */
import { findingEndOfString, hasEscapedKeys, nearEndOfString, stepCharacters } from './scan.ts';
import { resultOf, type Steps } from './steps.ts';

/** The value of JSON text. @throws SyntaxError as `JSON.parse` does. */
export function readJson(text: string): unknown {
  if (!text.includes('\\') || !hasEscapedKeys(text)) return JSON.parse(text); // (2)
  return resultOf(readingJson(text)).value;
}

/** The result of this library's reader. (4) */
export interface JsonRead {
  readonly value: unknown;
  readonly fault: JsonFault | null;
}

/** The fault of a value that is JSON, and where: the keys and indexes that lead there, outermost first. */
export interface JsonFault {
  readonly detail: string;
  readonly path: readonly string[];
}

/** Reads without V8's reader for any object. (1, 3) @throws SyntaxError as `JSON.parse` does. */
export function* readingJson(text: string): Steps<JsonRead> {
  const cursor = new Cursor(text);
  const open: Open[] = [];
  let whole: unknown;
  let fault: JsonFault | null = null;
  /** A repeated key is reported only if there is no worse fault. */
  const found = (detail: string): void => {
    if (fault === null || (fault.detail === sameKeyTwice && detail !== sameKeyTwice))
      fault = { detail, path: open.map(segmentOf) };
  };
  let expected: 'value' | 'key' | 'colon' | 'first' | 'more' = 'value';
  for (;;) {
    if (cursor.isDue()) yield;
    const next = cursor.peek();
    if (next === blank) continue;
    const frame = open.at(-1);
    let value: unknown;
    if (expected === 'colon') {
      cursor.take(':');
      expected = 'value';
      continue;
    } else if (expected === 'key' && frame !== undefined) {
      frame.key = yield* cursor.string();
      if (frame.key === '__proto__') found(reachesPrototype);
      else if (!frame.key.isWellFormed()) found('lone surrogate in a key');
      else if (Object.hasOwn(frame.into, frame.key)) found(sameKeyTwice);
      expected = 'colon';
      continue;
    } else if (expected === 'value') {
      if (next === '{' || next === '[') {
        cursor.take(next);
        open.push({ into: next === '{' ? {} : [], key: '' });
        expected = 'first';
        continue;
      }
      value = next === '"' ? yield* cursor.string() : yield* cursor.scalar();
      if (typeof value === 'string' && !value.isWellFormed()) found('lone surrogate');
    } else {
      if (frame === undefined) {
        if (next !== '') cursor.fail();
        return { value: whole, fault };
      }
      if (next !== closing(frame.into)) {
        if (expected === 'more') cursor.take(',');
        expected = Array.isArray(frame.into) ? 'value' : 'key';
        continue;
      }
      cursor.take(next);
      value = frame.into;
      open.pop();
    }
    const around = open.at(-1);
    if (around?.key === 'constructor' && hasPrototype(value)) found(reachesPrototype);
    if (around === undefined) whole = value;
    else put(around, value);
    expected = 'more';
  }
}

type Container = Record<string, unknown> | unknown[];

/** A container that is not closed yet, and the key of the member that is being read. */
interface Open {
  readonly into: Container;
  key: string;
}

const reachesPrototype = 'a key that could reach a prototype';
const sameKeyTwice = 'the same key twice in one object';

const closing = (container: Container): string => (Array.isArray(container) ? ']' : '}');
const segmentOf = ({ into, key }: Open): string => (Array.isArray(into) ? String(into.length) : key);
const hasPrototype = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');

function put({ into, key }: Open, value: unknown): void {
  if (Array.isArray(into)) into.push(value);
  // Like `JSON.parse`, a member named `__proto__` is a member and not the prototype.
  else if (key === '__proto__')
    Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
  else into[key] = value;
}

const isBlank = (unit: number): boolean => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
/** Returned for white space that goes on. */
const blank = ' ';
const outsideScalar = /[^-+.\w]/;
const quote = 0x22;
const backslash = 0x5c;
const tokensPerStep = 8_000;

class Cursor {
  readonly #text: string;
  #at = 0;
  #tokens = 0;
  #rest = stepCharacters;

  constructor(text: string) {
    this.#text = text;
  }

  /** True when enough was read since the last step. */
  isDue(): boolean {
    if (++this.#tokens < tokensPerStep && this.#at < this.#rest) return false;
    this.#tokens = 0;
    this.#rest = this.#at + stepCharacters;
    return true;
  }

  /** The next character that is no white space; nothing at the end, `blank` after a whole step of white space. */
  peek(): string {
    const [text, rest] = [this.#text, this.#rest];
    let at = this.#at;
    while (at < rest && isBlank(text.charCodeAt(at))) at++;
    this.#at = at;
    return isBlank(text.charCodeAt(at)) ? blank : text.charAt(at);
  }

  take(character: string): void {
    if (this.#text.charAt(this.#at) !== character) this.fail();
    this.#at++;
  }

  *string(): Steps<string> {
    const [text, start] = [this.#text, this.#at];
    if (text.charCodeAt(start) !== quote) this.fail();
    const end = nearEndOfString(text, start) ?? (yield* findingEndOfString(text, start));
    if (text.charCodeAt(end) !== quote) this.fail();
    const pieces: string[] = [];
    for (this.#at++; this.#at < end;) {
      if (pieces.length > 0) yield;
      const to = end - this.#at > stepCharacters ? endOfPiece(text, this.#at, this.#at + stepCharacters) : end;
      pieces.push(this.#parse(`"${text.slice(this.#at, to)}"`) as string);
      this.#at = to;
    }
    this.#at = end + 1;
    return pieces.length === 1 ? (pieces[0] as string) : pieces.join('');
  }

  *scalar(): Steps<unknown> {
    const text = this.#text;
    let end = this.#at;
    for (;;) {
      const step = text.slice(end, end + stepCharacters);
      const length = step.search(outsideScalar);
      end += length === -1 ? step.length : length;
      if (length !== -1 || end === text.length) break;
      yield;
    }
    const value = this.#parse(text.slice(this.#at, end));
    this.#at = end;
    return value;
  }

  fail(): never {
    throw new SyntaxError(`Unexpected character in JSON at position ${this.#at}`);
  }

  /** A single string or scalar is safe for `JSON.parse`, which also refuses bad escapes and control characters. (1) */
  #parse(lone: string): unknown {
    try {
      return JSON.parse(lone);
    } catch {
      return this.fail();
    }
  }
}

/** Where a piece of a string may end: at `to`, or at the start of an escape that extends beyond it. */
function endOfPiece(text: string, from: number, to: number): number {
  const near = to - 5; // before this even the longest escape, \u0000, has ended
  const slash = near + text.slice(near, to).lastIndexOf('\\');
  if (slash < near) return to;
  let inRow = 1;
  while (slash - inRow >= from && text.charCodeAt(slash - inRow) === backslash) inRow++;
  return inRow % 2 === 0 ? to : slash;
}
