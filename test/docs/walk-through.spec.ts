// The README's commands, pasted into a shell before a real process.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanUp, scratchDirectory, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readDocument } from './document.ts';
import { isAsShown, stepsOf, walk } from './walk-through.ts';

describe('the walk-through of the README', () => {
  let folder: string; // where the person stands
  let standalone: Standalone;
  beforeAll(async () => {
    folder = await scratchDirectory();
    standalone = await startStandalone({ dataDir: join(folder, '.dormouse') });
  });
  afterAll(async () => {
    expect(await standalone.stop()).toBe(0);
    await cleanUp();
  });

  it('prints what the README shows', async () => {
    const walked = await walk(stepsOf(readDocument('README.md')), folder, { 'http://127.0.0.1:7420': standalone.url });
    expect(walked).toEqual({ surprises: [], stderr: '' });
  });
});

describe('an output', () => {
  it.each([
    ['{ "id": "thr_…" }', '{"id":"thr_01A"}'],
    ['a\n…\nb', 'a x y b'],
    ['', '\n'],
  ])('%j is what %j shows', (shown, printed) => expect(isAsShown(shown, printed)).toBe(true));

  it.each([
    ['{"id": "thr_…"}', '{"id":"msg_01A"}'],
    ['a', 'a b'],
    ['a.c', 'abc'],
  ])('%j is not what %j shows', (shown, printed) => expect(isAsShown(shown, printed)).toBe(false));
});
