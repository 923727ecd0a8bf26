import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDeficitRounds } from './deficit-rounds.ts';

const weights = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1, maxLength: 12 });

/** How often each key was served, in so many steps in which all keys wait and may be served. */
function served(of: readonly number[], steps: number): readonly number[] {
  const rounds = createDeficitRounds<number>((key) => of[key] ?? 1);
  for (const key of of.keys()) rounds.add(key);
  const counts = of.map(() => 0);
  for (let step = 0; step < steps; step += 1) {
    const key = rounds.next(() => true);
    if (key === null) throw new Error('nothing was served');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** 1 where all have the same, 1/n where one has it all. (Jain, Chiu and Hawe, 1984) */
const jainIndex = (shares: readonly number[]): number => {
  const sum = shares.reduce((total, share) => total + share, 0);
  return sum ** 2 / (shares.length * shares.reduce((total, share) => total + share ** 2, 0));
};

describe('deficit rounds', () => {
  it('D2 of equal weights: no two differ by more than one service, at any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(400), (keys, steps) => {
        const counts = served(
          Array.from({ length: keys }, () => 1),
          steps,
        );
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        if (steps >= 20 * keys) expect(jainIndex(counts)).toBeGreaterThanOrEqual(0.95);
      }),
    );
  });

  it('D2 shares follow the weights, to within what one round is', () => {
    fc.assert(
      fc.property(weights, (of) => {
        const total = of.reduce((sum, weight) => sum + weight, 0);
        const lightest = Math.min(...of);
        const rounds = Math.ceil(20 / lightest);
        const steps = Math.min(200_000, Math.ceil(rounds * total));
        const inRound = Math.max(1, ...of) + of.length;
        served(of, steps).forEach((count, key) => {
          const due = (steps * (of[key] ?? 1)) / total;
          expect(Math.abs(count - due)).toBeLessThanOrEqual(inRound * Math.max(1, Math.ceil(1 / lightest)));
          expect(Math.abs(count - due)).toBeLessThanOrEqual(0.25 * due + inRound + of.length);
        });
      }),
      { numRuns: 40 },
    );
  });

  it('D1 D3 serves one as long as one may be served, and none that may not, whatever comes and goes', () => {
    const step = fc.record({ key: fc.nat(5), what: fc.constantFrom('add', 'delete', 'block', 'free', 'next', 'next') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), weights, (steps, of) => {
        const rounds = createDeficitRounds<number>((key) => of[key % of.length] ?? 1);
        const waiting = new Set<number>();
        const blocked = new Set<number>();
        for (const { key, what } of steps) {
          if (what === 'add') rounds.add(key);
          if (what === 'add') waiting.add(key);
          if (what === 'delete') rounds.delete(key);
          if (what === 'delete') waiting.delete(key);
          if (what === 'block') blocked.add(key);
          if (what === 'free') blocked.delete(key);
          if (what !== 'next') continue;
          const able = [...waiting].filter((each) => !blocked.has(each));
          const next = rounds.next((each) => !blocked.has(each));
          if (able.length === 0) expect(next).toBeNull();
          else expect(able).toContain(next);
        }
      }),
    );
  });

  it('D3 a key that was away for long has no more than the others when it comes back', () => {
    const rounds = createDeficitRounds<string>(() => 1);
    rounds.add('always');
    rounds.add('blocked');
    for (let step = 0; step < 1_000; step += 1) expect(rounds.next((key) => key === 'always')).toBe('always');
    const order = Array.from({ length: 10 }, () => rounds.next(() => true));
    expect(order.filter((key) => key === 'blocked')).toHaveLength(5);
  });
});
