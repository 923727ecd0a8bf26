import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bucketOf, percentile } from './time-buckets.ts';

function countsOf(times: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const time of times) counts[bucketOf(time)] = (counts[bucketOf(time)] ?? 0) + 1;
  return counts;
}

it('B1 a percentile is within 5 % of the one that was measured', () => {
  const times = fc.array(fc.double({ min: 0.02, max: 7 * 86_400_000, noNaN: true }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.99, 1), (all, share) => {
      const exact = all.toSorted((one, other) => one - other)[Math.ceil(all.length * share) - 1] ?? 0;
      const said = percentile(countsOf(all), share) ?? 0;
      expect(Math.abs(said - exact) / exact).toBeLessThan(0.05);
    }),
  );
});

it('B2 no time makes a bucket of its own', () => {
  const odd = [0, -5, 0.001, NaN, -Infinity];
  expect(new Set(odd.map(bucketOf))).toEqual(new Set([0]));
  expect(bucketOf(1e15)).toBe(bucketOf(Infinity));
  expect(new Set(Array.from({ length: 100_000 }, (_, n) => bucketOf(1.001 ** n))).size).toBeLessThan(330);
});

it('of nothing there is no percentile, and one time is every percentile', () => {
  expect(percentile({}, 0.5)).toBeNull();
  expect([0.5, 0.99].map((share) => percentile(countsOf([12, 12, 12]), share))).toEqual([11.7, 11.7]);
  expect(percentile(countsOf([0]), 0.5)).toBe(0);
});
