// The contract of `RateLimits`, for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type RateLimits } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const acme = tenantId('acme');

export function rateLimitsContract(name: string, make: () => Promise<UnderTest<RateLimits>>): void {
  describe(`RateLimits contract: ${name}`, () => {
    const opened = openedOnce(make);
    const freshBucket = (): string => `bucket-${Math.random()}`;

    it('B1: a burst, then no more', async () => {
      const limits = await opened.get();
      const bucket = freshBucket();
      const limit = { perSecond: 0.5, burst: 3 };
      const verdicts = [];
      for (let taken = 0; taken < 5; taken++) verdicts.push(await limits.take(acme, bucket, limit));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
      expect(verdicts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
      expect((await limits.take(tenantId('zenith'), bucket, limit)).allowed).toBe(true);
      expect((await limits.take(acme, freshBucket(), limit)).allowed).toBe(true);
    });

    it('B2: a refusal says how long to wait, and then one is allowed', async () => {
      const limits = await opened.get();
      const bucket = freshBucket();
      const limit = { perSecond: 20, burst: 1 };
      expect((await limits.take(acme, bucket, limit)).retryAfterMs).toBe(0);
      const refused = await limits.take(acme, bucket, limit);
      expect(refused.allowed).toBe(false);
      expect(refused.retryAfterMs).toBeGreaterThan(0);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(50);
      await new Promise((resolve) => setTimeout(resolve, refused.retryAfterMs + 2));
      expect((await limits.take(acme, bucket, limit)).allowed).toBe(true);
    });

    it('B1: at once and from everywhere, no more than the burst', async () => {
      const limits = await opened.get();
      const bucket = freshBucket();
      const all = await Promise.all(
        Array.from({ length: 50 }, () => limits.take(acme, bucket, { perSecond: 0.1, burst: 7 })),
      );
      expect(all.filter(({ allowed }) => allowed)).toHaveLength(7);
    });
  });
}
