// The contract of `Tenants`, for every adapter.
import { describe, expect, it } from 'vitest';
import { newTenant, type TenantRecord, type Tenants, type TenantId } from '../index.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const whole = (id: TenantId): TenantRecord =>
  newTenant(id, 7, {
    ...{ name: 'Acme, Inc. 🐢', quotas: { threadsMax: 5, requestsPerS: 0.5 }, weight: 2.5, retentionDays: 30 },
    ...{ origins: ['https://app.example.com'], traceContent: true, outboundAllow: ['10.0.0.0/8'] },
  });

export function tenantsContract(name: string, make: () => Promise<UnderTest<Tenants>>): void {
  describe(`Tenants contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(T1) keeps a record whole, and an id once', async () => {
      const tenants = await opened.get();
      const tenant = whole(freshTenant());
      expect(await tenants.get(tenant.id)).toBeNull();
      const inserted = await Promise.all([1, 2, 3, 4].map(() => tenants.insert(tenant)));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await tenants.insert({ ...tenant, name: 'another' })).toBe(false);
      expect(await tenants.get(tenant.id)).toEqual(tenant);
      const gone: TenantRecord = { ...newTenant(tenant.id, 9), state: 'deleted' };
      expect(await tenants.replace(gone, tenant)).toBe(true);
      expect(await tenants.insert(tenant)).toBe(false);
      expect(await tenants.get(tenant.id)).toEqual(gone);
    });

    it('(T2) makes one of several changes at once', async () => {
      const tenants = await opened.get();
      const tenant = whole(freshTenant());
      await tenants.insert(tenant);
      const changes = Array.from({ length: 8 }, (_, nth) => ({ ...tenant, updatedAt: 100 + nth }));
      const done = await Promise.all(changes.map((changed) => tenants.replace(changed, tenant)));
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await tenants.get(tenant.id)).toEqual(changes[done.indexOf(true)]);
      expect(await tenants.replace(whole(freshTenant()), tenant)).toBe(false);
    });

    it('(T3) lists by id, page by page, and those that are being deleted', async () => {
      const tenants = await opened.get();
      const own = [
        whole(freshTenant()),
        whole(freshTenant()),
        { ...whole(freshTenant()), state: 'deleting', deletedAt: 3 } as const,
      ];
      for (const tenant of own) await tenants.insert(tenant);
      const found: TenantRecord[] = [];
      for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const page: Awaited<ReturnType<Tenants['list']>> = await tenants.list({ limit: 2, cursor });
        expect(page.data.length).toBeLessThanOrEqual(2);
        found.push(...page.data);
        cursor = page.nextCursor;
      }
      expect(found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).toSorted());
      expect(found).toEqual(expect.arrayContaining(own));
      expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
      const deleting = (await tenants.deleting()).map(({ id }) => id);
      expect(own.map(({ id }) => deleting.includes(id))).toEqual([false, false, true]);
    });

    it('(T1) outlives its process', async () => {
      const tenant = whole(freshTenant());
      await (await opened.get()).insert(tenant);
      const again = await opened.reopened();
      if (again !== null) expect(await again.get(tenant.id)).toEqual(tenant);
    });
  });
}
