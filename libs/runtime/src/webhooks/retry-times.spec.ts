import fc from 'fast-check';
import { expect, it } from 'vitest';
import { attemptDelaysMs, isFailingTooLong, retryDelayMs } from './retry-times.ts';

const hour = 3_600_000;

it('is eight attempts, as the API lists them', () => {
  expect(attemptDelaysMs).toEqual([0, 5_000, 300_000, 1_800_000, 2 * hour, 5 * hour, 10 * hour, 10 * hour]);
});

it('waits up to a fifth less or more than the list says, and ends after the eighth', () => {
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), fraction, (tries, at) => {
      const delayMs = retryDelayMs(tries, at);
      const listed = attemptDelaysMs[tries];
      if (listed === undefined) return delayMs === null && tries >= 8;
      return delayMs !== null && Math.abs(delayMs - listed) <= listed * 0.2 + 1;
    }),
  );
  expect([retryDelayMs(1, 0), retryDelayMs(1, 0.5), retryDelayMs(8, 0.5)]).toEqual([4_000, 5_000, null]);
});

it('an endpoint fails too long after five days', () => {
  expect([isFailingTooLong(7, 7 + 120 * hour - 1), isFailingTooLong(7, 7 + 120 * hour)]).toEqual([false, true]);
});
