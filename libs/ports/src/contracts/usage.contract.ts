// The contract of usage by day (log/usage.ts), which a thread directory keeps with its rows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addUsage,
  noUsage,
  type ThreadDirectory,
  type ThreadProjection,
  type UsageQuery,
  type UsageRow,
  type UsageTotals,
  type TenantId,
  tenantId,
} from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const totals = (n: number): UsageTotals => ({
  ...{ inputTokens: n, outputTokens: 2 * n, completions: n % 5, toolCalls: n % 3, activeMs: 7 * n, waitingMs: n + 1 },
});

/** One day of one thread, as it was at a position. */
interface Told {
  readonly thread: number;
  readonly day: number;
  readonly position: number;
  readonly amount: number;
}

const agentOf = (thread: number): string => `agent-${thread % 3}`;

export function usageContract(name: string, make: () => Promise<UnderTest<ThreadDirectory>>): void {
  describe(`Usage contract: ${name}`, () => {
    const opened = openedOnce(make);

    const projectionOf = (key: { tenant: TenantId; thread: string }, told: Told): ThreadProjection => ({
      ...key,
      ...{ status: 'idle', title: null, updatedAt: 1, position: told.position },
      usage: { agent: agentOf(told.thread), days: [{ day: told.day, ...totals(told.amount) }] },
    });

    async function whole(tenant: TenantId, query: UsageQuery, limit: number): Promise<readonly UsageRow[]> {
      const directory = await opened.get();
      const rows: UsageRow[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<ThreadDirectory['usage']>> = await directory.usage(tenant, query, {
          limit,
          cursor,
        });
        rows.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return rows;
    }

    const told: fc.Arbitrary<Told> = fc.record({
      thread: fc.integer({ min: 0, max: 5 }),
      day: fc.integer({ min: 19_995, max: 20_003 }),
      position: fc.integer({ min: 1, max: 4 }),
      amount: fc.integer({ min: 0, max: 1_000 }),
    });

    it('U1 and U2: any projections, in any order and again, add up by agent, by day and by thread', async () => {
      const directory = await opened.get();
      await fc.assert(
        fc.asyncProperty(fc.array(told, { maxLength: 25 }), fc.integer({ min: 1, max: 4 }), async (given, limit) => {
          const { tenant } = freshKey(tenantId(`tenant-${Math.random().toString(36).slice(2)}`));
          const keys = Array.from({ length: 6 }, (_, nth) => ({ tenant, thread: `thr_${tenant}_${nth}` }));
          // Of one thread, day and position there is one amount: a projection is a function of the log.
          const all = given.map((each) => ({ ...each, amount: each.amount * 5 + each.position }));
          const sure = all.filter(
            (each, place) =>
              all.findIndex(
                (one) => one.thread === each.thread && one.day === each.day && one.position === each.position,
              ) === place,
          );
          for (const each of [...sure, ...sure.toReversed()]) {
            const key = keys[each.thread];
            if (key !== undefined) await directory.project([projectionOf(key, each)]);
          }
          const latest = new Map<string, Told>();
          for (const each of sure) {
            const id = `${each.thread} ${each.day}`;
            if ((latest.get(id)?.position ?? 0) < each.position) latest.set(id, each);
          }
          const range = { fromDay: 19_997, toDay: 20_002 };
          const counted = [...latest.values()].filter(({ day }) => day >= range.fromDay && day < range.toDay);
          const sumBy = (keyOf: (each: Told) => string): Record<string, UsageTotals> => {
            const sums: Record<string, UsageTotals> = {};
            for (const each of counted) sums[keyOf(each)] = addUsage(sums[keyOf(each)] ?? noUsage, totals(each.amount));
            return sums;
          };
          const shown = (rows: readonly UsageRow[]): Record<string, UsageTotals> =>
            Object.fromEntries(rows.map(({ key, ...sums }) => [key, sums]));
          const by = { agent: sumBy(({ thread }) => agentOf(thread)), day: sumBy(({ day }) => String(day)) };
          const threads = sumBy(({ thread }) => keys[thread]?.thread ?? '');
          const byAgent = await whole(tenant, { ...range, groupBy: 'agent' }, limit);
          expect(byAgent.map(({ key }) => key)).toEqual(Object.keys(by.agent).toSorted());
          expect(shown(byAgent)).toEqual(by.agent);
          const byDay = await whole(tenant, { ...range, groupBy: 'day' }, limit);
          expect(byDay.map(({ key }) => key)).toEqual(Object.keys(by.day).toSorted());
          expect(shown(byDay)).toEqual(by.day);
          const byThread = await whole(tenant, { ...range, groupBy: 'thread' }, limit);
          expect(byThread.map(({ key }) => key)).toEqual(Object.keys(threads).toSorted().toReversed());
          expect(shown(byThread)).toEqual(threads);
          const total = Object.values(by.day).reduce(addUsage, noUsage);
          expect(await directory.usageTotal(tenant, range)).toEqual(total);
        }),
        { numRuns: 25 },
      );
    });

    it('U1: usage of one thread comes with several days at once, and with a row of its own', async () => {
      const directory = await opened.get();
      const key = freshKey(tenantId(`tenant-${Math.random().toString(36).slice(2)}`));
      const projection: ThreadProjection = {
        ...projectionOf(key, { thread: 0, day: 1, position: 3, amount: 1 }),
        usage: {
          agent: 'support',
          days: [
            { day: 1, ...totals(4) },
            { day: 2, ...totals(6) },
          ],
        },
      };
      await directory.project([projection, projection]);
      const range = { fromDay: 0, toDay: 10 };
      expect(await directory.usageTotal(key.tenant, range)).toEqual(addUsage(totals(4), totals(6)));
      expect(await directory.usageTotal(freshKey(tenantId('another')).tenant, range)).toEqual(noUsage);
      expect(await directory.usageTotal(key.tenant, { fromDay: 2, toDay: 2 })).toEqual(noUsage);
      const one = await directory.usage(key.tenant, { ...range, groupBy: 'thread' }, { limit: 10, cursor: null });
      expect(one).toEqual({ data: [{ key: key.thread, ...addUsage(totals(4), totals(6)) }], nextCursor: null });
    });
  });
}
