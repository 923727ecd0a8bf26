// One page of threads, newest or oldest first: a condition per filter, and a cursor: the last row's place in the order.
// (thread-directory Y2)
//
// A filter by metadata walks the rarest of its pairs, whose index has the order of the list too; any other filter walks
// `threads` by the index that SQLite finds best.
import {
  type Page,
  pageOf,
  type PageRequest,
  placeBefore,
  type TenantId,
  type ThreadFilter,
  type ThreadRow,
} from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../file/database.ts';
import { readColumns, rowOf, type StoredThreadRow } from './thread-row.ts';

interface Condition {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Where the walk begins: a table whose rows are in the order of the list, and its condition. */
interface Walk {
  readonly from: string;
  /** The table that has `created_at` and `thread` in that order. */
  readonly ordered: 'threads' | 'pair';
  readonly conditions: readonly Condition[];
}

type Pair = readonly [key: string, value: string];

/** Pairs that are more frequent than this all count as frequent. */
const countedMax = 1_000;

export function listThreads(
  reader: Reader,
  tenant: TenantId,
  filter: ThreadFilter,
  page: PageRequest,
): Page<ThreadRow> {
  const walk = walkOf(reader, tenant, filter);
  const direction = filter.order === 'asc' ? 'ASC' : 'DESC';
  const conditions = [
    ...walk.conditions,
    ...statusConditions(filter),
    ...columnConditions(filter),
    ...cursorCondition(walk, filter, page),
  ];
  const where = conditions.map((condition) => condition.sql).join(' AND ');
  const order = `${walk.ordered}.created_at ${direction}, ${walk.ordered}.thread ${direction}`;
  const sql = `SELECT ${columns} FROM ${walk.from} WHERE ${where} ORDER BY ${order} LIMIT ?`;
  const parameters = conditions.flatMap((condition) => condition.parameters);
  const rows = reader.all<StoredThreadRow>(sql, ...parameters, page.limit + 1);
  return pageOf(rows.map(rowOf), page, ({ createdAt, thread }) => [createdAt, thread]);
}

const columns = readColumns
  .split(', ')
  .map((column) => `threads.${column}`)
  .join(', ');

function walkOf(reader: Reader, tenant: TenantId, filter: ThreadFilter): Walk {
  const [rarest, ...others] = rarestFirst(reader, tenant, Object.entries(filter.metadata ?? {}));
  if (rarest === undefined) {
    const { updatedAfter, status, agent, parent, userId, externalId } = filter;
    const hasOwnIndex = [status, agent, parent, userId, externalId].some((value) => value !== undefined);
    // An index that has the time, too: a row that has not changed is passed over without a look at it.
    const from = updatedAfter === undefined || hasOwnIndex ? 'threads' : 'threads INDEXED BY threads_newest_updated';
    return { from, ordered: 'threads', conditions: [{ sql: 'threads.tenant = ?', parameters: [tenant] }] };
  }
  const first = { sql: 'pair.tenant = ? AND pair.key = ? AND pair.value = ?', parameters: [tenant, ...rarest] };
  return {
    // CROSS JOIN keeps this order: the pair's index first.
    from: 'thread_metadata AS pair CROSS JOIN threads ON threads.tenant = pair.tenant AND threads.thread = pair.thread',
    ordered: 'pair',
    conditions: [first, ...others.map((pair) => ({ sql: hasPair, parameters: [tenant, ...pair] }))],
  };
}

const hasPair =
  'EXISTS (SELECT 1 FROM thread_metadata AS other WHERE other.tenant = ? AND other.key = ? AND other.value = ? ' +
  'AND other.created_at = pair.created_at AND other.thread = pair.thread)';

const countPair =
  'SELECT count(*) AS count FROM (SELECT 1 FROM thread_metadata WHERE tenant = ? AND key = ? AND value = ? LIMIT ?)';

function rarestFirst(reader: Reader, tenant: TenantId, pairs: readonly Pair[]): readonly Pair[] {
  if (pairs.length < 2) return pairs;
  const counted = pairs.map((pair) => ({
    pair,
    count: reader.one<{ count: number }>(countPair, tenant, ...pair, countedMax)?.count ?? 0,
  }));
  return counted.sort((left, right) => left.count - right.count).map(({ pair }) => pair);
}

function statusConditions({ status, waitingBelow = [] }: ThreadFilter): readonly Condition[] {
  if (status === undefined) return [];
  if (waitingBelow.length === 0 || (status !== 'idle' && status !== 'waiting'))
    return [{ sql: 'threads.status = ?', parameters: [status] }];
  const below = 'threads.thread IN (SELECT value FROM json_each(?))';
  const names = JSON.stringify(waitingBelow);
  return status === 'idle'
    ? [{ sql: `threads.status = 'idle' AND NOT ${below}`, parameters: [names] }]
    : [{ sql: `(threads.status = 'waiting' OR (threads.status = 'idle' AND ${below}))`, parameters: [names] }];
}

function columnConditions(filter: ThreadFilter): readonly Condition[] {
  const wanted = [
    ['threads.agent = ?', filter.agent],
    ['threads.agent IN (SELECT value FROM json_each(?))', filter.agents && JSON.stringify(filter.agents)],
    ['threads.parent = ?', filter.parent],
    ['threads.user_id = ?', filter.userId],
    ['threads.external_id = ?', filter.externalId],
    ['threads.created_at > ?', filter.createdAfter],
    ['threads.updated_at > ?', filter.updatedAfter],
  ] as const;
  return wanted.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, parameters: [value] }]));
}

function cursorCondition({ ordered }: Walk, { order }: ThreadFilter, page: PageRequest): readonly Condition[] {
  const place = placeBefore(page);
  if (place === null) return [];
  const next = order === 'asc' ? '>' : '<';
  return [{ sql: `(${ordered}.created_at, ${ordered}.thread) ${next} (?, ?)`, parameters: place }];
}
