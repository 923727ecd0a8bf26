// The scenarios of the bench must keep working: they run small, on the built app. Nothing here asserts a time.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOptions } from '../../bench/src/bench-options.ts';
import type { BenchResults } from '../../bench/src/report/bench-results.ts';
import { dormouse } from '../../bench/src/dormouse.ts';
import { floor } from '../../bench/src/floor.ts';
import { countExactly } from '../../bench/src/exact-counts.ts';
import { measureGrowth } from '../../bench/src/growing-thread.ts';
import { describeMachine } from '../../bench/src/machine.ts';
import { markdownOf } from '../../bench/src/report/markdown-report.ts';
import { measureTurns } from '../../bench/src/one-tool-turns.ts';
import { measureObservability } from '../../bench/src/observability.ts';
import { measureSleepers } from '../../bench/src/sleepers.ts';
import { roundOrder } from '../../bench/src/round-order.ts';
import { openRig, type Rig } from '../../bench/src/bench-rig.ts';
import { verdictsOf } from '../../bench/src/report/verdicts.ts';

const app = join(import.meta.dirname, '..', '..', 'apps', 'standalone', 'dist', 'main.js');
/** Of a one-tool turn in one process: three requests, two wakes with their completions, the call and its end. */
const spansPerTurn = 9;

describe('the command line of the bench', () => {
  it('refuses what it does not know, in a sentence', () => {
    expect(() => parseOptions(['--scenario', 'everything'])).toThrow('--scenario everything: there are turns, counts');
    expect(() => parseOptions(['--rounds', 'none'])).toThrow('--rounds none: a number above 0 is wanted');
    expect(() => parseOptions(['--fast'])).toThrow('--fast');
  });
});

describe('the order of a round', () => {
  it.each([1, 2, 4, 5, 6])('brings each of %i contestants behind each other one equally often', (contestants) => {
    const [behind, places] = [new Map<string, number>(), new Map<string, number>()];
    const count = (counts: Map<string, number>, key: string): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (let round = 0; round < 2 * contestants; round++) {
      const order = roundOrder(round, contestants);
      expect(order.toSorted((one, other) => one - other)).toEqual(Array.from({ length: contestants }, (_, who) => who));
      order.forEach((who, place) => {
        count(places, `${who} at ${place}`);
        if (place > 0) count(behind, `${who} behind ${order[place - 1]}`);
      });
    }
    expect(new Set(behind.values())).toEqual(new Set(contestants === 1 ? [] : [2]));
    expect(behind.size).toBe(contestants * (contestants - 1));
    expect(new Set(places.values())).toEqual(new Set([2]));
    expect(places.size).toBe(contestants * contestants);
  });
});

describe.skipIf(!existsSync(app))('npm run bench', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig(() => {});
  });
  afterAll(() => rig.close(false));

  const resultsOf = (measured: Partial<BenchResults>): BenchResults => {
    const machine = describeMachine(rig.directory);
    const none = { turns: null, counts: null, growing: null, sleepers: null, cluster: null, observability: null };
    return { machine, quick: true, tookSeconds: 1, contestants: [], ...none, ...measured };
  };

  it('measures turns, and calls nothing passed that it did not measure', async () => {
    const plan = { rounds: 1, seconds: 0.5, warmupSeconds: 0.5, firstWarmupSeconds: 0.1, threads: [1, 4] };
    const turns = await measureTurns(rig, [dormouse, floor], plan);
    expect(turns.map(({ contestant, threads }) => `${contestant} ${threads}`)).toEqual([
      'dormouse 1',
      'floor 1',
      'floor 4', // each width begins with another one
      'dormouse 4',
    ]);
    expect(turns.every(({ turnsPerSecond, p50 }) => turnsPerSecond > 0 && p50 > 0)).toBe(true);
    const verdicts = verdictsOf(resultsOf({ turns }));
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['not measured']));
  });

  it('counts four log commits per turn and no read in a slice', async () => {
    const counts = await countExactly(rig, [], { turns: 20, manyThreads: 2 });
    expect(counts.plain).toMatchObject({ logCommits: 4, readsInSlices: 0, invocations: 1, callbacks: 1 });
    const results = resultsOf({ counts });
    expect(verdictsOf(results).find(({ figure }) => figure === 'log commits per one-tool turn')?.verdict).toBe(
      'aim met',
    );
    expect(markdownOf(results)).toContain('| log commits | 4 | 4 |');
  });

  it('talks to a thread with a past, warm and after a restart', async () => {
    const sizes = [
      { events: 30, threads: 2 },
      { events: 300, threads: 1 },
    ];
    const growing = await measureGrowth(rig, { sizes, warmRounds: 1, turnsPerRound: 5, restarts: 1 });
    expect(growing.sizes.every(({ position, events }) => position >= events)).toBe(true);
    expect(growing.sizes.every(({ coldSamples }) => coldSamples > 0)).toBe(true);
  });

  it('counts the spans of a turn, and what they allocate', async () => {
    const turns = { rounds: 1, seconds: 0.5, warmupSeconds: 0.5, firstWarmupSeconds: 0.1, threads: [2] };
    const observability = await measureObservability(rig, { turns, counted: 20, beside: null });
    const [bare, metrics, traced] = observability.counts;
    expect([bare?.spans, metrics?.spans]).toEqual([0, 0]);
    expect(traced?.spans).toBe(spansPerTurn);
    expect(traced?.allocatedKib).toBeGreaterThan(bare?.allocatedKib ?? Number.NaN);
    expect(observability.counts.every(({ logCommits, promises }) => logCommits === 4 && promises > 0)).toBe(true);
    const results = resultsOf({ observability });
    expect(verdictsOf(results).find(({ figure }) => figure.includes('traced'))?.measured).toBeGreaterThan(0);
    expect(markdownOf(results)).toContain('| traced | 9.00 |');
  });

  it('puts threads to sleep without a timer for each', async () => {
    const sleepers = await measureSleepers(rig, { threads: 400, seconds: 1 });
    expect(sleepers.timersPerThread).toBeLessThan(1);
    expect(sleepers.asleep.heapMib).toBeGreaterThan(0);
  });
});
