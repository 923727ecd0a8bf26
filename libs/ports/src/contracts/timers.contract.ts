// The contract of `Timers`, for every adapter.
//
//   T1. Setting is idempotent by (tenant, thread, timer): the first due time stays.
//   T2. `due` answers what is due, oldest first, at most the limit, and leaves out the tenants that it is told to; a
//       timer stays until it is dropped.
//   T3. `next` is the earliest due time of all.
//   T4. Timers outlive the process.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TenantId, tenantId, storedTenantId, type DueTimer, type Timers } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function timersContract(name: string, make: () => Promise<UnderTest<Timers>>): void {
  describe(`Timers contract: ${name}`, () => {
    const opened = openedOnce(make);
    const timer = (due: number, timerId = 'timer-1', key = freshKey()): DueTimer => ({ ...key, timerId, due });
    const allDue = async (timers: Timers, now: number): Promise<readonly DueTimer[]> => timers.due(now, 10_000);
    const empty = async (): Promise<Timers> => {
      const timers = await opened.get();
      await timers.drop(await allDue(timers, Number.MAX_SAFE_INTEGER));
      return timers;
    };

    it('T1: the first due time stays', async () => {
      const timers = await empty();
      const first = timer(1_000);
      await timers.set([first]);
      await timers.set([{ ...first, due: 5 }]);
      await timers.set([{ ...first, due: 9_000 }, timer(2_000, 'timer-2', first)]);
      expect(await allDue(timers, 1_999)).toEqual([first]);
      expect(await timers.next()).toBe(1_000);
    });

    it('T1: names do not run together', async () => {
      const timers = await empty();
      const key = freshKey();
      const mine = [
        timer(1, 'a', key),
        timer(2, 'b', key),
        timer(3, 'a', freshKey()),
        timer(4, 'a', { ...key, tenant: tenantId('zenith') }),
      ];
      await timers.set(mine);
      expect(await allDue(timers, 10)).toEqual(mine);
    });

    it('T2: due timers come oldest first, none before its time, and no more than the limit', async () => {
      const timers = await empty();
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 20 }),
          fc.integer({ min: 0, max: 501 }),
          async (dues, now) => {
            await empty();
            await timers.set(dues.map((due) => timer(due)));
            const expected = dues.filter((due) => due <= now).sort((left, right) => left - right);
            expect((await allDue(timers, now)).map(({ due }) => due)).toEqual(expected);
            expect((await timers.due(now, 3)).map(({ due }) => due)).toEqual(expected.slice(0, 3));
            expect(await timers.next()).toBe(Math.min(...dues));
          },
        ),
        { numRuns: 20 },
      );
    });

    it('T2: without the timers of some tenants come those of the others, up to the limit', async () => {
      const timers = await empty();
      const of = (tenant: TenantId, due: number): DueTimer => timer(due, `${tenant}-${due}`, { ...freshKey(), tenant });
      const [loud, other] = [
        [1, 2, 3, 4].map((due) => of(tenantId('loud'), due)),
        [of(storedTenantId("o'ther"), 5), of(tenantId('calm'), 6), of(tenantId('calm'), 9)],
      ];
      await timers.set([...loud, ...other]);
      expect(await timers.due(8, 3)).toEqual(loud.slice(0, 3));
      expect(await timers.due(8, 3, [tenantId('loud')])).toEqual(other.slice(0, 2));
      expect(await timers.due(9, 1, [tenantId('loud'), storedTenantId("o'ther")])).toEqual(other.slice(1, 2));
      expect(await timers.due(9, 10, [])).toHaveLength(7);
    });

    it('T2: a due timer stays until it is dropped; dropping twice or what is not there is no error', async () => {
      const timers = await empty();
      const mine = timer(10);
      await timers.set([mine]);
      expect(await allDue(timers, 10)).toEqual([mine]);
      expect(await allDue(timers, 10)).toEqual([mine]);
      await timers.drop([mine, timer(1)]);
      await timers.drop([mine]);
      await timers.drop([]);
      await timers.set([]);
      expect(await allDue(timers, 10)).toEqual([]);
    });

    it('T3: without timers there is no next', async () => {
      const timers = await empty();
      expect(await timers.next()).toBeNull();
      await timers.set([timer(77)]);
      expect(await timers.next()).toBe(77);
    });

    it('T4: timers outlive the process', async (context) => {
      const timers = await empty();
      const mine = timer(1_700_000_000_000);
      await timers.set([mine]);
      const again = await opened.reopened();
      if (!again) return context.skip('these timers do not outlive their process');
      expect(await allDue(again, 1_700_000_000_000)).toEqual([mine]);
    });
  });
}
