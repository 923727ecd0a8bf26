/**
 * Owns: the one text of a JSON value, so that equal values hash equally (RFC 8785, JSON Canonicalization Scheme).
 * Not here: hashing.
 *
 * 1. Equal JSON values give equal text; the order of members never matters.
 * 2. Members are sorted by UTF-16 code units, numbers and strings are written as ECMAScript writes them.
 */
import { isJsonObject } from './check.ts';
import { resultOf, type Steps } from './steps.ts';

/**
 * The canonical text of `value`. A member whose value is undefined is left out, as `JSON.stringify` does.
 * @throws TypeError for a value that is not JSON: NaN, infinities, lone surrogates, functions, symbols, bigints,
 *   undefined. A text that `checkJson` accepted can only fail by a number too big for a double (`1e999`).
 */
export const canonicalJson = (value: unknown): string => resultOf(canonicalizing(value));

/** The same, in steps of some thousand values. */
export function* canonicalizing(value: unknown): Steps<string> {
  return yield* textOf(value, { written: 0 });
}

function* textOf(value: unknown, progress: { written: number }): Steps<string> {
  const texts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) texts.push(yield* memberText(item, progress));
    return `[${texts.join(',')}]`;
  }
  if (!isJsonObject(value)) return scalarText(value);
  // (2) The default order is by code units.
  for (const key of Object.keys(value).toSorted()) {
    if (value[key] !== undefined) texts.push(`${canonicalString(key)}:${yield* memberText(value[key], progress)}`);
  }
  return `{${texts.join(',')}}`;
}

function* memberText(member: unknown, progress: { written: number }): Steps<string> {
  if (++progress.written % 4_096 === 0) yield;
  return typeof member === 'object' ? yield* textOf(member, progress) : scalarText(member);
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return canonicalString(value);
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`not a JSON value: ${typeof value === 'number' ? value : typeof value}`);
}

function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('not a JSON value: a string with a lone surrogate');
  return JSON.stringify(text);
}
