// The contract of `Dedup`, for every adapter: it may forget, it must not invent.
import { describe, expect, it } from 'vitest';
import { tenantId, type Dedup } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const acme = tenantId('acme');

export function dedupContract(name: string, make: () => Promise<UnderTest<Dedup>>): void {
  describe(`Dedup contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('says so only of what was remembered, for this tenant', async () => {
      const dedup = await opened.get();
      const id = `id-${Math.random()}`;
      expect(await dedup.seen(acme, id)).toBe(false);
      await dedup.remember(acme, id);
      await dedup.remember(acme, id);
      expect(await dedup.seen(acme, id)).toBe(true);
      expect(await dedup.seen(tenantId('zenith'), id)).toBe(false);
      expect(await dedup.seen(acme, `${id}x`)).toBe(false);
    });
  });
}
