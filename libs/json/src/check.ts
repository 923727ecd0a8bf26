/**
 * Owns: reading JSON text from foreign senders into values that are safe to use.
 * Not here: bytes. Decode them first, `new TextDecoder('utf-8', { fatal: true })`, within a limit of your own.
 *
 * 1. Accepted means: RFC 8259 syntax, bounded depth, unique keys, no key that reaches a prototype, no lone surrogate.
 * 2. The verdict depends on the text and the two limits alone, so two services that read the same text agree.
 * 3. Depth and number of values are checked before `JSON.parse` allocates anything, but for a few KiB of text: 8 MiB of
 *    tiny values would block a process for half a second, 8 MiB of text do not.
 * 4. Numbers are doubles, as `JSON.parse` makes them. A caller that needs a number exactly keeps the text: `rawMember`.
 * 5. A short text as `JSON.stringify` writes it, as most are, costs that, one `JSON.parse` and one walk over the keys.
 *    Any other text costs one more scan instead of it; paths are made only for a refusal. `JSON.parse` cannot be
 *    interrupted, and takes long for megabytes of escapes or thousands of keys: text longer than `shortJsonCharacters`
 *    is read by the reader of this library, and a process that serves others meanwhile uses `checkingJson`, step by
 *    step.
 */
import { jsonDepthMax, jsonValuesMax } from './limits.ts';
import { scanningJson } from './scan.ts';
import { pointerTo, type Problem } from './pointer.ts';
import { readingJson, type JsonRead } from './read.ts';
import { resultOf, type Steps } from './steps.ts';

/** A JSON object whose members are not inspected here. */
export type JsonObject = { readonly [key: string]: unknown };

/** Why a text was refused. */
export interface JsonProblem extends Problem {
  readonly code: 'INVALID_JSON' | 'BODY_TOO_DEEP' | 'BODY_TOO_LARGE';
}

/** The value, or the first problem that was found. */
export type JsonReading =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: JsonProblem };

/**
 * Reads `text` strictly (1). `depthMax` counts nested containers: a scalar has depth 0, `[]` has 1; default
 * `jsonDepthMax`. `valuesMax` counts containers and their contents, an empty one as if it contained one value; default
 * `jsonValuesMax`. Never throws.
 */
export function checkJson(
  text: string,
  depthMax: number = jsonDepthMax,
  valuesMax: number = jsonValuesMax,
): JsonReading {
  return resultOf(checkingJson(text, depthMax, valuesMax));
}

/** A text up to this length is read in one step. (5) */
export const shortJsonCharacters = 65_536;

/** A text up to this length may be plain; it has fewer characters than the number of values allowed. (5) */
const plainJsonCharacters = 4_096;

/** The same, step by step. (5) */
export function* checkingJson(
  text: string,
  depthMax: number = jsonDepthMax,
  valuesMax: number = jsonValuesMax,
): Steps<JsonReading> {
  if (text.length <= Math.min(plainJsonCharacters, valuesMax) && !text.includes('\\')) {
    const value = readPlain(text, depthMax);
    if (value !== undefined) return { ok: true, value };
  }
  const scan = yield* scanningJson(text, depthMax, valuesMax); // (3)
  if (scan === 'too many') return refuse('BODY_TOO_LARGE', [], `more than ${valuesMax} values`);
  if ('tooDeep' in scan) return refuse('BODY_TOO_DEEP', scan.tooDeep, `more than ${depthMax} levels of nesting`);
  let read: JsonRead;
  try {
    const stepwise = scan.escapedKeys || text.length > shortJsonCharacters;
    read = stepwise ? yield* readingJson(text) : readAtOnce(text, scan.members, depthMax);
  } catch (error) {
    return refuse('INVALID_JSON', [], syntaxDetail(error));
  }
  const { value, fault } = read;
  return fault === null ? { ok: true, value } : refuse('INVALID_JSON', fault.path, fault.detail);
}

/**
 * Text exactly as `JSON.stringify` writes it repeats no key. Undefined for any other text, and for a text that is not
 * accepted. Without a backslash: V8 may read an escaped key that it read once into other text (`read-json.ts`, 1).
 */
function readPlain(text: string, depthMax: number): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const walk: Walk = { members: 0, surrogatesPossible: mayHoldLoneSurrogate(text) };
    return isSafe(value, walk, depthMax) && JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined; // no JSON
  }
}

/** Like `readingJson`, but faster and not interruptible. @throws SyntaxError */
function readAtOnce(text: string, members: number, depthMax: number): JsonRead {
  const value: unknown = JSON.parse(text);
  const walk: Walk = { members: 0, surrogatesPossible: mayHoldLoneSurrogate(text) };
  // Fewer members than in the text: `JSON.parse` dropped a repeated key.
  const sound = isSafe(value, walk, depthMax) && walk.members === members;
  return sound ? { value, fault: null } : resultOf(readingJson(text)); // which finds what is wrong, and where
}

/** Whether a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(code: JsonProblem['code'], path: readonly string[], detail: string): JsonReading {
  return { ok: false, problem: { code, pointer: pointerTo(path), detail } };
}

/** V8 quotes the text in its message; only the position may be repeated. */
function syntaxDetail(error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  return position === undefined ? 'not valid JSON' : `not valid JSON at character ${position}`;
}

function mayHoldLoneSurrogate(text: string): boolean {
  // Without the backslash in the pattern a text of nothing but backslashes costs nothing; a wrong "may" costs little.
  return (text.includes('\\') && /u[dD][89a-fA-F]/.test(text)) || !text.isWellFormed();
}

interface Walk {
  members: number;
  readonly surrogatesPossible: boolean;
}

/** True if it may be accepted, and is nested no more than `depth` deep. */
function isSafe(value: unknown, walk: Walk, depth: number): boolean {
  if (typeof value === 'string') return !walk.surrogatesPossible || value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isSafeMember(item, walk, depth - 1));
  for (const key in value) {
    walk.members++;
    const member = (value as JsonObject)[key];
    if (!isSafeKey(key, member, walk) || !isSafeMember(member, walk, depth - 1)) return false;
  }
  return true;
}

/** Most members are neither containers nor suspicious; for these the slow path is skipped. */
function isSafeMember(member: unknown, walk: Walk, depth: number): boolean {
  return (typeof member !== 'object' && !walk.surrogatesPossible) || isSafe(member, walk, depth);
}

function isSafeKey(key: string, member: unknown, walk: Walk): boolean {
  if (key === '__proto__' || (key === 'constructor' && isJsonObject(member) && Object.hasOwn(member, 'prototype')))
    return false;
  return !walk.surrogatesPossible || key.isWellFormed();
}
