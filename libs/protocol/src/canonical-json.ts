/**
 * Owns: the one text of a JSON value, so that equal values hash equally (RFC 8785, JSON Canonicalization Scheme).
 * Not here: hashing.
 *
 * 1. Equal JSON values give equal text; the order of members never matters.
 * 2. Members are sorted by UTF-16 code units, numbers and strings are written as ECMAScript writes them.
 */
import { isJsonObject } from './json.ts';

/**
 * The canonical text of `value`. A member whose value is undefined is left out, as `JSON.stringify` does.
 * @throws TypeError for what JSON cannot carry: NaN, infinities, lone surrogates, functions, symbols, bigints, undefined.
 *   A text that `checkJson` accepted can only fail by a number too big for a double (`1e999`).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (isJsonObject(value)) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .toSorted() // (2) the default order is by code units
      .map((key) => `${canonicalString(key)}:${canonicalJson(value[key])}`);
    return `{${members.join(',')}}`;
  }
  if (typeof value === 'string') return canonicalString(value);
  if (value === null || typeof value === 'boolean' || Number.isFinite(value)) return JSON.stringify(value);
  throw new TypeError(`not a JSON value: ${typeof value === 'number' ? value : typeof value}`);
}

function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('not a JSON value: a string with a lone surrogate');
  return JSON.stringify(text);
}
