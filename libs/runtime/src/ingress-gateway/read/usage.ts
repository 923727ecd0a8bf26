// Usage of a tenant's threads, by agent, day or thread: what rows of the directory say, without cost.
//
// Invariants:
//   U1. Usage is kept by UTC day: a range takes every day that it touches. It is at most `daysMax` long.
//   U2. The last moments may be missing: a thread's usage is projected when it rests, and at the latest after seconds.
//       A crash leaves it out until the thread's next commit, which brings it in on its own day.
import type { PageRequest, UsageQuery, UsageRow, UsageTotals, TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, invalid } from '../refusal.ts';
import { rfc3339 } from './api-json.ts';

const dayMs = 86_400_000;
const daysMax = 400;
const daysUsual = 30;

export interface UsageWanted {
  /** Milliseconds since the epoch; `to` is exclusive. Absent: the last 30 days. */
  readonly from?: number;
  readonly to?: number;
  readonly groupBy: UsageQuery['groupBy'];
}

export interface UsageReport {
  /** The range that was taken, RFC 3339. */
  readonly from: string;
  readonly to: string;
  /** A day's key is its date. */
  readonly data: readonly UsageRow[];
  readonly total: UsageTotals;
  readonly nextCursor: string | null;
}

export interface UsageApi {
  read(tenant: TenantId, wanted: UsageWanted, page: PageRequest): Promise<Answered<UsageReport>>;
}

export function createUsageApi({ directory, clock }: Pick<IngressParts, 'directory' | 'clock'>): UsageApi {
  return {
    async read(tenant, { groupBy, ...wanted }, page) {
      const toDay = Math.ceil((wanted.to ?? clock.now() + 1) / dayMs); // (U1)
      const fromDay = wanted.from === undefined ? toDay - daysUsual : Math.floor(wanted.from / dayMs);
      if (toDay <= fromDay) return invalid([{ pointer: '/to', detail: 'must be after from' }]);
      if (toDay - fromDay > daysMax) return invalid([{ pointer: '/from', detail: `allows at most ${daysMax} days` }]);
      const [rows, total] = await Promise.all([
        directory.usage(tenant, { fromDay, toDay, groupBy }, page),
        directory.usageTotal(tenant, { fromDay, toDay }),
      ]);
      const data = groupBy === 'day' ? rows.data.map((row) => ({ ...row, key: dateOf(row.key) })) : rows.data;
      const range = { from: rfc3339(fromDay * dayMs), to: rfc3339(toDay * dayMs) };
      return answered({ ...range, data, total, nextCursor: rows.nextCursor });
    },
  };
}

const dateOf = (day: string): string => rfc3339(Number(day) * dayMs).slice(0, 10);
