// Summaries of threads for lists. Port: ports/log/thread-directory.ts. The log is the truth; these rows may lag behind.
//
// Invariants:
//   Y1. A row moves forward only: a projection of an older position changes nothing.
//   Y2. Every filter has an index that ends in (created_at, thread), the order of the list, newest first.
//   Y3. A census reads no row of a thread but those with subscriptions: triggers count, indexes have the oldest waits.
//       So does the table of open calls, which a trigger keeps equal to the column of the same name: one step in its
//       index for each tool server of a tenant.
import {
  type OpenOfTenant,
  type ThreadCensus,
  type RowPatch,
  type ThreadDirectory,
  type ThreadKey,
  type ThreadProjection,
  type ThreadRow,
  type ThreadStatus,
  threadWaitKinds,
  type ThreadWaits,
  type TenantId,
} from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';
import type { SQLInputValue } from 'node:sqlite';
import type { Statement } from '../writer/write-operation.ts';
import { listThreads } from './thread-list.ts';
import { putUsage, readUsage, readUsageTotal, usageRowsOf } from './thread-usage.ts';
import { readColumns, rowColumns, rowOf, type StoredThreadRow } from './thread-row.ts';

const insertRow = `INSERT INTO threads (${rowColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const insertMetadata =
  'INSERT INTO thread_metadata (tenant, key, value, created_at, thread) ' +
  'SELECT threads.tenant, json_each.key, json_each.value, created_at, thread FROM threads, json_each(metadata) ' +
  'WHERE threads.tenant = ? AND thread = ?';
const deleteMetadata =
  'DELETE FROM thread_metadata WHERE (tenant, key, value, created_at, thread) IN ' +
  '(SELECT threads.tenant, json_each.key, json_each.value, created_at, thread FROM threads, json_each(metadata) ' +
  'WHERE threads.tenant = ? AND thread = ?)';
// A projection without a title, or with a title that the row has had, leaves the title alone. An opening has no effect
// once the thread is open. (Y1)
const sinceColumns = threadWaitKinds.map((kind) => `since_${kind}`);
/** Parameters 9 and later, if the eighth says that there are any. */
const setWaits = [...sinceColumns, 'subscriptions', 'open_calls', 'waiting_on']
  .map((column, place) => `${column} = iif(?8, ?${place + 9}, ${column})`)
  .join(', ');
const project =
  'UPDATE threads SET status = ?1, title = iif(position < ?7, ifnull(?2, title), title), updated_at = ?3, position = ?4, ' +
  `opening = iif(?4 > 0, NULL, opening), first_words = ifnull(first_words, ?17), ${setWaits} WHERE tenant = ?5 AND thread = ?6 AND position <= ?4`;
const touch = 'UPDATE threads SET thread = thread WHERE tenant = ? AND thread = ?';
const setTitle = 'UPDATE threads SET title = ? WHERE tenant = ? AND thread = ?';
const dropWords = 'UPDATE threads SET first_words = NULL WHERE tenant = ? AND thread = ?';
const releaseExternalId = 'UPDATE threads SET external_id = NULL WHERE tenant = ? AND thread = ? AND external_id = ?';
const setMetadata = 'UPDATE threads SET metadata = ? WHERE tenant = ? AND thread = ?';
const selectRow = `SELECT ${readColumns} FROM threads WHERE tenant = ? AND thread = ?`;
const selectByExternalId = `SELECT ${readColumns} FROM threads WHERE tenant = ? AND external_id = ?`;
const selectStuck = `SELECT ${readColumns} FROM threads WHERE status = 'opening' AND created_at < ? ORDER BY created_at LIMIT ?`;
const selectUses = "SELECT 1 AS uses FROM threads WHERE tenant = ? AND agent = ? AND status <> 'closed' LIMIT 1";

export function createThreadDirectory(writer: GroupWriter, reader: Reader): ThreadDirectory {
  function find(sql: string, tenant: TenantId, name: string): ThreadRow | null {
    const row = reader.one<StoredThreadRow>(sql, tenant, name);
    return row && rowOf(row);
  }

  return {
    insert: async (row) => {
      if ((await writer.steps('prompt', insertion(row))) === 1) return { inserted: true };
      const existing =
        find(selectRow, row.tenant, row.thread) ?? find(selectByExternalId, row.tenant, row.externalId ?? '');
      if (existing === null) throw new Error(`thread ${row.thread} was refused by nobody`);
      return { inserted: false, existing };
    },
    get: async (key) => find(selectRow, key.tenant, key.thread),
    list: async (tenant, filter, page) => listThreads(reader, tenant, filter, page),
    patch: async (key, patch) => {
      await writer.steps('prompt', patching(key, patch));
      return find(selectRow, key.tenant, key.thread);
    },
    releaseExternalId: (key, externalId) => writer.run(releaseExternalId, key.tenant, key.thread, externalId),
    project: async (projections) => {
      const usage = projections.flatMap(usageRowsOf);
      const rows = writer.rows('lazy', project, projections.map(projected));
      await Promise.all(usage.length === 0 ? [rows] : [rows, writer.rows('lazy', putUsage, usage)]);
    },
    stuckOpenings: async (before, limit) => reader.all<StoredThreadRow>(selectStuck, before, limit).map(rowOf),
    usesAgent: async (tenant, agent) => reader.one(selectUses, tenant, agent) !== null,
    usage: async (tenant, query, page) => readUsage(reader, tenant, query, page),
    usageTotal: async (tenant, range) => readUsageTotal(reader, tenant, range),
    census: async () => censusOf(reader),
    openOf: async (tenant) => reader.one<OpenOfTenant>(selectOpen, tenant) ?? { threads: 0, subscriptions: 0 },
    oldestCall: async (tenant, toolServer) => {
      const row = reader.one<OpenCallRow>(selectOldestCall, tenant, toolServer);
      return row && { toolServer, toolCallId: row.tool_call, since: row.since };
    },
  };
}

const projected = ({
  status,
  title,
  titledAt,
  updatedAt,
  position,
  tenant,
  thread,
  waits,
  waitingOn,
  firstWords,
}: ThreadProjection): SQLInputValue[] => [
  ...[status, title, updatedAt, position, tenant, thread, titledAt ?? position + 1],
  waits === undefined ? 0 : 1,
  ...waitColumns(waits ?? noWaits),
  waitingText(waitingOn),
  firstWords ?? null,
];

const waitingText = (waitingOn: ThreadRow['waitingOn'] = []): string | null =>
  waitingOn.length === 0 ? null : JSON.stringify(waitingOn);

const noWaits: ThreadWaits = { oldest: {}, subscriptions: 0 };

const waitColumns = ({ oldest, subscriptions, calls = [] }: ThreadWaits): SQLInputValue[] => [
  ...threadWaitKinds.map((kind) => oldest[kind] ?? null),
  subscriptions,
  calls.length === 0 ? null : JSON.stringify(calls),
];

interface OpenCallRow {
  readonly tool_call: string;
  readonly since: number;
}

const selectOldestCall =
  'SELECT tool_call, since FROM open_calls WHERE tenant = ? AND tool_server = ? ORDER BY since, tool_call LIMIT 1';
const selectNextServer =
  'SELECT tenant, tool_server, since FROM open_calls WHERE (tenant, tool_server) > (?, ?) ORDER BY tenant, tool_server, since LIMIT 1';
const selectOpen = 'SELECT open AS threads, subscriptions FROM tenant_threads WHERE tenant = ?';
const selectCounts = 'SELECT status, threads FROM thread_counts';
const selectSubscriptions =
  'SELECT ifnull(sum(subscriptions), 0) AS subscriptions FROM threads WHERE subscriptions > 0';
const selectOldest = (column: string): string =>
  `SELECT min(${column}) AS since FROM threads WHERE ${column} IS NOT NULL`;

/** (Y3) */
function censusOf(reader: Reader): ThreadCensus {
  const threads: Record<ThreadStatus, number> = {
    ...{ opening: 0, parked: 0, closed: 0, thinking: 0, waiting: 0, idle: 0 },
  };
  for (const row of reader.all<{ readonly status: ThreadStatus; readonly threads: number }>(selectCounts))
    threads[row.status] = row.threads;
  const oldest = threadWaitKinds.flatMap((kind) => {
    const since = reader.one<{ readonly since: number | null }>(selectOldest(`since_${kind}`))?.since ?? null;
    return since === null ? [] : [[kind, since] as const];
  });
  const { subscriptions = 0 } = reader.one<{ readonly subscriptions: number }>(selectSubscriptions) ?? {};
  return { threads, oldest: Object.fromEntries(oldest), subscriptions, calls: oldestCalls(reader) };
}

interface NextServer {
  readonly tenant: TenantId;
  readonly tool_server: string;
  readonly since: number;
}

/** (Y3) */
function oldestCalls(reader: Reader): ThreadCensus['calls'] {
  const oldest = new Map<string, number>();
  let next = reader.one<NextServer>(selectNextServer, '', '');
  while (next !== null) {
    const { tenant, tool_server: toolServer, since } = next;
    oldest.set(toolServer, Math.min(since, oldest.get(toolServer) ?? since));
    next = reader.one<NextServer>(selectNextServer, tenant, toolServer);
  }
  return [...oldest].map(([toolServer, since]) => ({ toolServer, since }));
}

function insertion(row: ThreadRow): readonly Statement[] {
  const {
    tenant,
    thread,
    status,
    agent,
    agentVersion,
    parent,
    family,
    userId,
    externalId,
    title,
    createdAt,
    updatedAt,
    position,
    firstWords = null,
    waitingOn,
  } = row;
  const metadata = JSON.stringify(row.metadata);
  const opening = row.opening && JSON.stringify(row.opening);
  const parameters = [
    tenant,
    thread,
    status,
    agent,
    agentVersion,
    parent,
    family,
    userId,
    externalId,
    title,
    metadata,
    createdAt,
    updatedAt,
    position,
    opening,
    firstWords,
    waitingText(waitingOn),
    row.forkedFrom ?? '',
  ];
  const inserted: Statement = { sql: insertRow, parameters };
  return Object.keys(row.metadata).length === 0
    ? [inserted]
    : [inserted, { sql: insertMetadata, parameters: [tenant, thread] }];
}

function patching(key: ThreadKey, patch: RowPatch): readonly Statement[] {
  const parameters = [key.tenant, key.thread];
  const steps: Statement[] = [{ sql: touch, parameters }];
  if (patch.title !== undefined) steps.push({ sql: setTitle, parameters: [patch.title, ...parameters] });
  if (patch.firstWords === null) steps.push({ sql: dropWords, parameters });
  if (patch.metadata !== undefined) {
    steps.push(
      { sql: deleteMetadata, parameters },
      { sql: setMetadata, parameters: [JSON.stringify(patch.metadata), ...parameters] },
    );
    steps.push({ sql: insertMetadata, parameters });
  }
  return steps;
}
