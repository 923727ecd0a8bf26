// The contract of `Schedules`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { Page, Schedules, TenantSchedule, TenantId } from '../index.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const scheduleOf = (tenant: TenantId, name: string, lookAt: number | null = null): TenantSchedule => ({
  ...{ tenant, name, id: `sch_${tenant}_${name}`, cron: '0 9 * * 1', timeZone: 'Europe/Vienna', agent: 'support' },
  ...{ message: 'Good morning 🐢', externalId: null, missed: 'once', createdAt: 7, nextAt: lookAt, lookAt },
  ...{ firing: null, lastFiredAt: null, lastScheduledFor: null, fired: 0, skipped: 0 },
});

export function schedulesContract(name: string, make: () => Promise<UnderTest<Schedules>>): void {
  describe(`Schedules contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(C1) keeps a schedule whole, and a name once', async () => {
      const schedules = await opened.get();
      const schedule = scheduleOf(freshTenant(), 'weekly');
      const inserted = await Promise.all([1, 2, 3, 4].map(() => schedules.insert(schedule)));
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await schedules.get(schedule.tenant, 'weekly')).toEqual(schedule);
      expect(await schedules.get(schedule.tenant, schedule.id)).toEqual(schedule);
      expect(await schedules.get(freshTenant(), 'weekly')).toBeNull();
      const again = await opened.reopened();
      if (again !== null) expect(await again.get(schedule.tenant, 'weekly')).toEqual(schedule);
    });

    it('(C2) makes one of several changes at once', async () => {
      const schedules = await opened.get();
      const schedule = scheduleOf(freshTenant(), 'weekly');
      await schedules.insert(schedule);
      const changes = Array.from({ length: 8 }, (_, nth) => ({
        ...schedule,
        ...{ fired: nth + 1, firing: { scheduledFor: nth, missed: 0 } },
      }));
      const done = await Promise.all(changes.map((changed) => schedules.replace(changed, schedule)));
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await schedules.get(schedule.tenant, 'weekly')).toEqual(changes[done.indexOf(true)]);
      expect(await schedules.replace(scheduleOf(freshTenant(), 'none'), schedule)).toBe(false);
      expect(await schedules.remove(schedule.tenant, 'weekly')).toBe(true);
      expect(await schedules.remove(schedule.tenant, 'weekly')).toBe(false);
    });

    it('(C3) tells which are due, the earliest first', async () => {
      const schedules = await opened.get();
      const tenant = freshTenant();
      for (const [each, lookAt] of [
        ['b', 20],
        ['never', null],
        ['a', 10],
        ['later', 4_000],
      ] as const)
        await schedules.insert(scheduleOf(tenant, each, lookAt));
      const due = async (now: number): Promise<readonly string[]> =>
        (await schedules.due(now, 1_000)).filter((one) => one.tenant === tenant).map((one) => one.name);
      expect(await due(9)).toEqual([]);
      expect(await due(10)).toEqual(['a']);
      expect(await due(3_000)).toEqual(['a', 'b']);
      expect(await schedules.due(3_000, 1)).toHaveLength(1);
      const seen = scheduleOf(tenant, 'a', 10);
      await schedules.replace({ ...seen, lookAt: 5_000 }, seen);
      expect(await due(3_000)).toEqual(['b']);
    });

    it('(C3) leaves out the tenants that it is told to', async () => {
      const schedules = await opened.get();
      const [loud, calm] = [freshTenant(), freshTenant()];
      for (const each of ['a', 'b', 'c']) await schedules.insert(scheduleOf(loud, each, -20));
      await schedules.insert(scheduleOf(calm, 'd', -10));
      const tenants = async (...without: readonly TenantId[]): Promise<readonly string[]> =>
        (await schedules.due(-5, 3, without)).map(({ tenant }) => tenant);
      expect(await tenants()).toEqual([loud, loud, loud]);
      expect(await tenants(loud)).toEqual([calm]);
      expect(await tenants(loud, calm)).toEqual([]);
    });

    it('(C4) lists by name, page by page', async () => {
      const schedules = await opened.get();
      const tenant = freshTenant();
      for (const each of ['c', 'a', 'b']) await schedules.insert(scheduleOf(tenant, each));
      const names: string[] = [];
      for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const page: Page<TenantSchedule> = await schedules.list(tenant, { limit: 2, cursor });
        names.push(...page.data.map((schedule) => schedule.name));
        cursor = page.nextCursor;
      }
      expect(names).toEqual(['a', 'b', 'c']);
    });
  });
}
