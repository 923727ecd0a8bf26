// One page of threads, newest first: a condition per filter, and a cursor that is the last row's place in the order. (Y2)
import type { Page, PageRequest, ThreadFilter, ThreadRow } from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from './database.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './document.ts';
import { rowColumns, rowOf, type StoredThreadRow } from './thread-row.ts';

interface Condition {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

export function listThreads(reader: Reader, tenant: string, filter: ThreadFilter, page: PageRequest): Page<ThreadRow> {
  const conditions = [
    { sql: 'tenant = ?', parameters: [tenant] },
    ...filterConditions(tenant, filter),
    ...cursorCondition(page.cursor),
  ];
  const where = conditions.map((condition) => condition.sql).join(' AND ');
  const sql = `SELECT ${rowColumns} FROM threads WHERE ${where} ORDER BY created_at DESC, thread DESC LIMIT ?`;
  const rows = reader.all<StoredThreadRow>(
    sql,
    ...conditions.flatMap((condition) => condition.parameters),
    page.limit + 1,
  );
  const data = rows.slice(0, page.limit).map(rowOf);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > page.limit && last ? encodeCursor([last.createdAt, last.thread]) : null };
}

function filterConditions(tenant: string, filter: ThreadFilter): readonly Condition[] {
  const columns = [
    ['status = ?', filter.status],
    ['agent = ?', filter.agent],
    ['parent = ?', filter.parent],
    ['user_id = ?', filter.userId],
    ['external_id = ?', filter.externalId],
    ['created_at > ?', filter.createdAfter],
  ] as const;
  const plain = columns.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, parameters: [value] }]));
  const metadata = Object.entries(filter.metadata ?? {}).map(([key, value]) => ({
    sql: 'EXISTS (SELECT 1 FROM thread_metadata m WHERE m.tenant = ? AND m.key = ? AND m.value = ? AND m.created_at = threads.created_at AND m.thread = threads.thread)',
    parameters: [tenant, key, value],
  }));
  return [...plain, ...metadata];
}

function cursorCondition(cursor: string | null): readonly Condition[] {
  if (cursor === null) return [];
  const [createdAt, thread] = decodeCursor(cursor);
  if (typeof createdAt !== 'number' || typeof thread !== 'string') throw invalidCursor();
  return [{ sql: '(created_at, thread) < (?, ?)', parameters: [createdAt, thread] }];
}
