// The bench must not rot: its scenarios run small, on the built app. Nothing here asserts a time.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../bench/src/bench-options.ts';
import type { BenchResults } from '../../bench/src/bench-results.ts';
import { markdownOf } from '../../bench/src/markdown-report.ts';
import { runBench } from '../../bench/src/run-bench.ts';
import { verdictsOf } from '../../bench/src/verdicts.ts';

const app = join(import.meta.dirname, '..', '..', 'apps', 'standalone', 'dist', 'main.js');

async function bench(args: string): Promise<BenchResults> {
  const options = parseOptions(args.split(' '));
  if (options === 'help') throw new Error('not a run');
  return runBench(options, () => {});
}

describe('npm run bench', () => {
  it('refuses what it does not know, in a sentence', () => {
    expect(() => parseOptions(['--scenario', 'everything'])).toThrow('--scenario everything: there are turns, counts');
    expect(() => parseOptions(['--rounds', 'none'])).toThrow('--rounds none: a number above 0 is wanted');
    expect(() => parseOptions(['--fast'])).toThrow('--fast');
  });

  it.skipIf(!existsSync(app))('measures turns, counts what they write, and never calls passed what it did not measure', { timeout: 60_000 }, async () => {
    const results = await bench('--quick --scenario turns --scenario counts --rounds 1 --seconds 0.5 --threads 1,4 --contestant dormouse');
    expect(results.turns?.map(({ threads }) => threads)).toEqual([1, 4]);
    expect(results.turns?.every(({ turnsPerSecond }) => turnsPerSecond > 0)).toBe(true);
    expect(results.counts?.plain).toMatchObject({ logCommits: 4, readsInSlices: 0, invocations: 1, callbacks: 1 });
    const verdicts = verdictsOf(results);
    expect(verdicts.find(({ figure }) => figure === 'log commits per one-tool turn')?.verdict).toBe('aim met');
    expect(verdicts.filter(({ measured }) => measured === null).every(({ verdict }) => verdict === 'not measured')).toBe(true);
    expect(markdownOf(results)).toContain('| log commits | 4 | 4 |');
  });

  it.skipIf(!existsSync(app))('puts threads to sleep and wakes a thread with a past', { timeout: 60_000 }, async () => {
    const results = await bench('--quick --scenario growing --scenario sleepers --sleepers 50 --sleep-seconds 1 --contestant dormouse');
    expect(results.growing?.sizes.every(({ position, events }) => position >= events)).toBe(true);
    expect(results.sleepers?.timersPerThread).toBe(0);
  });
});
