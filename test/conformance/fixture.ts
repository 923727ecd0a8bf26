// Recorded requests compared with the checked-in ones: everything that a tool server gets, headers included; values
// that differ from run to run are replaced by a word in angle brackets.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json } from '../e2e/standalone-process.ts';
import type { Recorded } from './recording-tool-server.ts';

export interface Normalised {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a request without a body. */
  readonly body: Json;
}

/** Of the connection, not of the message. */
const connectionHeaders = new Set(['host', 'connection', 'content-length']);

/** `names` gives values their words: `{call_1: 'call'}` writes `<call>` wherever the value stands. */
export function normalised(request: Recorded, names: Readonly<Record<string, string>>): Normalised {
  const byLength = Object.entries(names).toSorted(([left], [right]) => right.length - left.length);
  const named = (text: string): string =>
    byLength.reduce((written, [value, name]) => written.replaceAll(value, `<${name}>`), text);
  const headers = Object.entries(request.headers)
    .filter(([name]) => !connectionHeaders.has(name))
    .map(([name, value]): [string, string] => [name, named(withoutTrace(name, String(value)))]);
  const body = request.bytes.length === 0 ? 'null' : named(request.bytes.toString('utf8'));
  return {
    method: request.method,
    path: named(request.path),
    headers: Object.fromEntries(headers.toSorted(([left], [right]) => left.localeCompare(right))),
    body: JSON.parse(body),
  };
}

const withoutTrace = (name: string, value: string): string =>
  name === 'traceparent' ? value.replace(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/, '<trace>') : value;

export function fixture(name: string): Normalised {
  const file = fileURLToPath(new URL(`fixtures/${name}.json`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')) as Normalised;
}
