// Usage of threads by UTC day. Port: ports/log/usage.ts.
//
// Invariants:
//   G1. `thread_usage` has a row for each thread and day, replaced by those of later positions; triggers keep the sums
//       of `usage_days` in the same transaction.
//   G2. By agent and by day only the sums are read; by thread the rows of the page's threads, in the order of the key.
import {
  decodeCursor,
  encodeCursor,
  invalidCursor,
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
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../file/database.ts';

const columns = ['input_tokens', 'output_tokens', 'completions', 'tool_calls', 'active_ms', 'waiting_ms'] as const;

const replaced = ['agent', 'position', ...columns].map((column) => `${column} = excluded.${column}`).join(', ');

/** (G1) */
export const putUsage =
  `INSERT INTO thread_usage (tenant, thread, day, agent, position, ${columns.join(', ')}) ` +
  `VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, thread, day) DO UPDATE SET ${replaced} ` +
  'WHERE excluded.position >= position';

/** Parameters of `putUsage`, for each day of a projection. */
export const usageRowsOf = ({ tenant, thread, position, usage }: ThreadProjection): readonly SQLInputValue[][] =>
  (usage?.days ?? []).map((day) => [
    ...[tenant, thread, day.day, usage?.agent ?? '', position],
    ...[day.inputTokens, day.outputTokens, day.completions, day.toolCalls, day.activeMs, day.waitingMs],
  ]);

const sums = columns.map((column) => `ifnull(sum(${column}), 0) AS ${column}`).join(', ');

type StoredTotals = Readonly<Record<(typeof columns)[number], number>>;

const totalsOf = (row: StoredTotals): UsageTotals => ({
  ...{ inputTokens: row.input_tokens, outputTokens: row.output_tokens, completions: row.completions },
  ...{ toolCalls: row.tool_calls, activeMs: row.active_ms, waitingMs: row.waiting_ms },
});

interface Grouping {
  readonly from: 'usage_days' | 'thread_usage';
  readonly key: string;
  readonly after: string;
  readonly order: string;
}

/** (G2) */
const groupings: Readonly<Record<UsageQuery['groupBy'], Grouping>> = {
  agent: { from: 'usage_days', key: 'agent', after: 'agent > ?', order: 'agent' },
  day: { from: 'usage_days', key: 'day', after: 'day > ?', order: 'day' },
  thread: { from: 'thread_usage', key: 'thread', after: 'thread < ?', order: 'thread DESC' },
};

export function readUsage(
  reader: Reader,
  tenant: TenantId,
  { fromDay, toDay, groupBy }: UsageQuery,
  { limit, cursor }: PageRequest,
): Page<UsageRow> {
  const { from, key, after, order } = groupings[groupBy];
  const conditions = ['tenant = ?', 'day >= ?', 'day < ?', ...(cursor === null ? [] : [after])];
  const sql = `SELECT ${key} AS key, ${sums} FROM ${from} WHERE ${conditions.join(' AND ')} GROUP BY ${key} ORDER BY ${order} LIMIT ?`;
  const parameters = [tenant, fromDay, toDay, ...(cursor === null ? [] : [placeOf(cursor)])];
  const rows = reader.all<StoredTotals & { readonly key: string | number }>(sql, ...parameters, limit + 1);
  const data = rows.slice(0, limit).map((row) => ({ key: String(row.key), ...totalsOf(row) }));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { data, nextCursor: last === undefined ? null : encodeCursor([last.key]) };
}

export function readUsageTotal(reader: Reader, tenant: TenantId, { fromDay, toDay }: UsageRange): UsageTotals {
  const sql = `SELECT ${sums} FROM usage_days WHERE tenant = ? AND day >= ? AND day < ?`;
  const row = reader.one<StoredTotals>(sql, tenant, fromDay, toDay);
  return row === null ? noUsage : totalsOf(row);
}

function placeOf(cursor: string): string | number {
  const [key] = decodeCursor(cursor);
  if (typeof key !== 'string' && typeof key !== 'number') throw invalidCursor();
  return key;
}
