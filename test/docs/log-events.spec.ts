// The catalogue of log events names exactly what the code logs.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow } from '../architecture/source-file.ts';

const calls = /\.(info|warn|error)\(\s*'([a-z_]+)'/g;
const fields = /\.(?:info|warn|error)\(\s*'[a-z_]+',\s*\{[^}]*\}/g;
const otherNames = /[{,]\s*(?:toolCallId|tool_call_id|threadId|thread_id)\b/;
const rows = /^\| `([a-z_]+)` +\| (\S+) +\|/gm;

const sources = filesBelow('libs', 'apps').filter(
  ({ path }) => !/\.(?:spec|contract)\.ts$/.test(path) && !path.startsWith('libs/testing/'),
);

it('has one name for a thread and one for a call', () => {
  const calling = sources.flatMap(({ text }) => [...text.matchAll(fields)].map(([call]) => call));
  expect(calling.length).toBeGreaterThan(30);
  expect(calling.filter((call) => otherNames.test(call))).toEqual([]);
});

it('is complete, in order, and has the levels of the code', () => {
  const logged = new Map<string, string>();
  for (const { text } of sources)
    for (const [, level = '', event = ''] of text.matchAll(calls)) logged.set(event, level);
  const page = readFileSync(new URL('../../docs/reference/log-events.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(rows)].map(([, event = '', level = '']) => [event, level]);
  expect(logged.size).toBeGreaterThan(40);
  expect(listed).toEqual([...logged].toSorted(([one], [other]) => (one < other ? -1 : 1)));
});
