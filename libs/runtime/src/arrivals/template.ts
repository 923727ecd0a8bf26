// From the body of a delivery to the words of a message and the key of its thread.
//
// Invariants:
//   L1. A pointer reaches members of the body alone, never what every object or list has.
//   L2. A message has at most `renderedBytesMax` bytes of UTF-8; what is cut ends with a note that says so. Values that
//       do not fit are neither written nor joined.
//   L3. A key is a string, a number or a boolean; anything else stands for none.
//   L4. A template is read in time proportional to its length, whatever is in it: all tenants share this process.
import { hash } from 'node:crypto';
import { idCharactersMax } from '@dormouse/protocol';
import { type DeliveryHeaders, headerOf } from './signature.ts';

export const renderedBytesMax = 65_536;
const cutNote = '\n[cut at 64 KiB]';
/** Two of these never share a character, so that none is read twice. (L4) */
const braced = /\{\{([^{}]*)\}\}/g;
const pointerForm = /^(\/([^~/]|~[01])*)+$/;
const headerForm = /^header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Why this cannot be the key of a source; null when it can. */
export const keyProblem = (key: string): string | null =>
  pointerForm.test(key) || headerForm.test(key) ? null : 'must be a JSON Pointer, such as /issue/id, or header:NAME';

/** Why this cannot be a message; null when it can. */
export function templateProblem(template: string): string | null {
  const wrong = [...partsOf(template)].some(({ pointer }) => pointer !== null && !pointerForm.test(pointer));
  return wrong ? 'has a {{/pointer}} that is no JSON Pointer: ~ is written ~0, and / is written ~1' : null;
}

/** Strings as they are, other values as JSON, nothing for what is not there. (L2) */
export function rendered(template: string, body: unknown): string {
  let words = '';
  for (const { text, pointer } of partsOf(template)) {
    words += pointer === null ? text : shownAt(body, pointer);
    if (words.length > renderedBytesMax) break; // a character has a byte at least: the rest would be cut
  }
  const bytes = Buffer.from(words);
  if (bytes.length <= renderedBytesMax) return words;
  let end = renderedBytesMax - cutNote.length;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1; // not inside a character
  return `${bytes.toString('utf8', 0, end)}${cutNote}`;
}

interface Part {
  readonly text: string;
  /** Null for what stays as it is. */
  readonly pointer: string | null;
}

function* partsOf(template: string): Generator<Part> {
  let end = 0;
  for (const { 0: text, 1: inner = '', index } of template.matchAll(braced)) {
    const pointer = inner.trim();
    if (!pointer.startsWith('/')) continue;
    yield { text: template.slice(end, index), pointer: null };
    yield { text, pointer };
    end = index + text.length;
  }
  yield { text: template.slice(end), pointer: null };
}

/** No more of it than can be seen to be too much. */
function shownAt(body: unknown, pointer: string): string {
  const value = valueAt(body, pointer);
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.slice(0, renderedBytesMax + 1);
}

/** The external id of the thread; null where there is none. (L3) A long one stands for itself as a hash. */
export function keyOf(key: string, body: unknown, headers: DeliveryHeaders): string | null {
  const value = key.startsWith('header:')
    ? headerOf(headers, key.slice('header:'.length).toLowerCase())
    : valueAt(body, key);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  if (text === '') return null;
  return text.length <= idCharactersMax ? text : `sha256:${hash('sha256', text)}`;
}

/** The value that a JSON Pointer names; undefined for none. (L1) */
function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
