// Usage of threads by UTC day, in memory, beside the rows of the thread directory.
import {
  addUsage,
  noUsage,
  type Page,
  type PageRequest,
  type ThreadProjection,
  type UsageQuery,
  type UsageRange,
  type UsageRow,
  type UsageTotals,
  type TenantId,
} from '@dormouse/ports';
import { pageOf } from '../stores/rows.ts';

interface UsageDay extends UsageTotals {
  readonly tenant: TenantId;
  readonly thread: string;
  readonly day: number;
  readonly agent: string;
  readonly position: number;
}

export type UsageStore = Map<string, UsageDay>;

export function projectUsage(days: UsageStore, { tenant, thread, position, usage }: ThreadProjection): void {
  for (const { day, ...totals } of usage?.days ?? []) {
    const id = JSON.stringify([tenant, thread, day]);
    if ((days.get(id)?.position ?? 0) > position) continue;
    days.set(id, { tenant, thread, day, agent: usage?.agent ?? '', position, ...totals });
  }
}

function within(days: UsageStore, tenant: TenantId, { fromDay, toDay }: UsageRange): readonly UsageDay[] {
  return [...days.values()].filter((each) => each.tenant === tenant && each.day >= fromDay && each.day < toDay);
}

const totalsOf = ({
  inputTokens,
  outputTokens,
  completions,
  toolCalls,
  activeMs,
  waitingMs,
}: UsageDay): UsageTotals => ({
  ...{ inputTokens, outputTokens, completions, toolCalls, activeMs, waitingMs },
});

export function usageOf(days: UsageStore, tenant: TenantId, query: UsageQuery, page: PageRequest): Page<UsageRow> {
  const sums = new Map<string, UsageTotals>();
  for (const each of within(days, tenant, query)) {
    const key = String(each[query.groupBy]);
    sums.set(key, addUsage(sums.get(key) ?? noUsage, totalsOf(each)));
  }
  const keys = [...sums.keys()].toSorted();
  const ordered = query.groupBy === 'thread' ? keys.toReversed() : keys;
  const { data, nextCursor } = pageOf(ordered, page, (key) => key);
  return { data: data.map((key) => ({ key, ...(sums.get(key) ?? noUsage) })), nextCursor };
}

export const usageTotalOf = (days: UsageStore, tenant: TenantId, range: UsageRange): UsageTotals =>
  within(days, tenant, range).map(totalsOf).reduce(addUsage, noUsage);
