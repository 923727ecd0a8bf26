import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayMs } from './retry-schedule.ts';
import { defaultDispatcherSettings as settings } from '../settings.ts';

describe('the retry schedule', () => {
  it('grows from one second to one minute', () => {
    const delays = Array.from({ length: 9 }, (_none, index) => retryDelayMs(settings, index + 1, 0, null, 0));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('never ends before half of the backoff and never goes past the end', () => {
    const any = fc.record({
      attempts: fc.integer({ min: 1, max: 5_000 }),
      elapsedMs: fc.nat(700_000),
      fraction: fc.double({ min: 0, max: 0.999, noNaN: true }),
      wish: fc.option(fc.nat(700_000)),
    });
    fc.assert(
      fc.property(any, ({ attempts, elapsedMs, fraction, wish }) => {
        const delayMs = retryDelayMs(settings, attempts, elapsedMs, wish, fraction);
        if (delayMs === null) return;
        expect(delayMs).toBeGreaterThanOrEqual(wish ?? 500);
        expect(delayMs + elapsedMs).toBeLessThanOrEqual(settings.retryTotalMs);
      }),
    );
  });

  it('ends at once when the server asks for more time than there is', () => {
    expect(retryDelayMs(settings, 1, 0, settings.retryTotalMs + 1, 0)).toBeNull();
  });
});
