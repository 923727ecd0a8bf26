// The catalogue of log events names exactly what the code logs.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow } from '../architecture/source-file.ts';

const calls = /\.(info|warn|error)\(\s*'([a-z_]+)'/g;
const rows = /^\| `([a-z_]+)` +\| (\S+) +\|/gm;

it('is complete, in order, and has the levels of the code', () => {
  const logged = new Map<string, string>();
  for (const { path, text } of filesBelow('libs', 'apps')) {
    if (/\.(?:spec|contract)\.ts$/.test(path) || path.startsWith('libs/testing/')) continue;
    for (const [, level = '', event = ''] of text.matchAll(calls)) logged.set(event, level);
  }
  const page = readFileSync(new URL('../../docs/reference/log-events.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(rows)].map(([, event = '', level = '']) => [event, level]);
  expect(logged.size).toBeGreaterThan(40);
  expect(listed).toEqual([...logged].toSorted(([one], [other]) => (one < other ? -1 : 1)));
});
