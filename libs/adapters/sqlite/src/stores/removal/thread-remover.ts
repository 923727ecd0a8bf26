// Removes threads, a statement for each table and some threads at a time. Port: ports/stores/removal/thread-remover.ts.
//
// Invariants:
//   T1. The row of a thread goes last: a removal that was broken off finds it again. (ports R3)
//   T2. A blob goes in the transaction that takes the last thread which names it.
//   T3. What is keyed by the id of a call, or by a key of a client, has no index by thread, because each turn would
//       pay for it (schema S5): one walk through the table finds the rows of all threads of a call, some rows in each
//       tick.
//   T4. No statement changes more than `threadsAtOnce` threads or `rowsAtOnce` rows, logs excepted (erase-threads D3):
//       other writes wait for one statement at most.
import type { Removal, Removed, ThreadRemover, TenantId } from '@dormouse/ports';
import type { SQLInputValue } from 'node:sqlite';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';
import { copyTables, recordTables } from './thread-tables.ts';

const threadsAtOnce = 50;
const rowsAtOnce = 512;

const listed = 'IN (SELECT value FROM json_each(?2))';
const deleteOf = (table: string): string => `DELETE FROM ${table} WHERE tenant = ?1 AND thread ${listed}`;

/** The index of questions has `is_open` before the thread. */
const deleteQuestions = `DELETE FROM questions WHERE tenant = ?1 AND is_open IN (0, 1) AND thread ${listed}`;
const deleteMetadata =
  'DELETE FROM thread_metadata WHERE (tenant, key, value, created_at, thread) IN ' +
  '(SELECT threads.tenant, json_each.key, json_each.value, created_at, thread FROM threads, json_each(metadata) ' +
  `WHERE threads.tenant = ?1 AND thread ${listed})`;
/** A trigger keeps the open calls equal to their column. */
const unlabel =
  "UPDATE threads SET title = NULL, user_id = NULL, external_id = NULL, first_words = NULL, metadata = '{}', " +
  `opening = NULL, waiting_on = NULL, open_calls = NULL WHERE tenant = ?1 AND thread ${listed} ` +
  "AND (title IS NOT NULL OR user_id IS NOT NULL OR external_id IS NOT NULL OR first_words IS NOT NULL OR metadata <> '{}' " +
  'OR opening IS NOT NULL OR waiting_on IS NOT NULL OR open_calls IS NOT NULL)';

/** A family is named by its root, and no reader of its log comes after that. (ports R3) */
const deleteKeys = `DELETE FROM family_keys WHERE tenant = ?1 AND family ${listed}`;

const selectBlobs = `SELECT DISTINCT sha256 FROM blob_threads WHERE tenant = ?1 AND thread ${listed}`;
const deleteBlobThreads = deleteOf('blob_threads');
/** The third parameter: the hashes that the threads have named. */
const unnamedBlobs =
  'FROM blobs WHERE tenant = ?1 AND sha256 IN (SELECT value FROM json_each(?2)) AND NOT EXISTS ' +
  '(SELECT 1 FROM blob_threads AS b WHERE b.tenant = ?1 AND b.sha256 = blobs.sha256';
const sizeOfUnnamed = `SELECT ifnull(sum(length(bytes)), 0) AS bytes ${unnamedBlobs} AND b.thread NOT IN (SELECT value FROM json_each(?3)))`;
const deleteUnnamed = `DELETE ${unnamedBlobs})`;

const sizeOfLogs =
  'SELECT ifnull(sum(length(c.body)), 0) AS bytes FROM thread_numbers AS t JOIN commits AS c ON c.number = t.number ' +
  `WHERE t.tenant = ?1 AND t.thread ${listed}`;

interface Sized {
  readonly bytes: number;
}

export function createThreadRemover(writer: GroupWriter, reader: Reader): ThreadRemover {
  const run = (sql: string, tenant: TenantId, threads: string): Promise<number> =>
    writer.rows('prompt', sql, [[tenant, threads]]);

  async function removeCopies(tenant: TenantId, threads: string): Promise<Removed> {
    const blobs = await removeBlobs(tenant, threads);
    let { rows } = blobs;
    for (const table of copyTables) rows += await run(deleteOf(table), tenant, threads);
    for (const sql of [deleteQuestions, deleteMetadata, unlabel]) rows += await run(sql, tenant, threads);
    return { rows, bytes: blobs.bytes };
  }

  /** (T2) */
  async function removeBlobs(tenant: TenantId, threads: string): Promise<Removed> {
    const found = reader.all<{ readonly sha256: string }>(selectBlobs, tenant, threads);
    if (found.length === 0) return { rows: 0, bytes: 0 };
    const hashes = JSON.stringify(found.map(({ sha256 }) => sha256));
    const bytes = reader.one<Sized>(sizeOfUnnamed, tenant, hashes, threads)?.bytes ?? 0;
    const rows = await writer.steps('prompt', [
      { sql: deleteBlobThreads, parameters: [tenant, threads] },
      { sql: deleteUnnamed, parameters: [tenant, hashes] },
    ]);
    return { rows, bytes };
  }

  async function removeRest(tenant: TenantId, some: readonly string[]): Promise<Removed> {
    const threads = JSON.stringify(some);
    const bytes = reader.one<Sized>(sizeOfLogs, tenant, threads)?.bytes ?? 0;
    let rows = 0;
    for (const table of recordTables) rows += await run(deleteOf(table), tenant, threads);
    const eraseSome = (): Promise<number> => writer.eraseThreads(tenant, some);
    for (let erased = await eraseSome(); erased > 0; erased = await eraseSome()) rows += erased;
    rows += await run(deleteKeys, tenant, threads);
    rows += await run(deleteOf('threads'), tenant, threads); // (T1)
    return { rows, bytes };
  }

  async function removeSome(tenant: TenantId, some: readonly string[], what: Removal): Promise<Removed> {
    const copies = await removeCopies(tenant, JSON.stringify(some));
    return what === 'copies' ? copies : sum(copies, await removeRest(tenant, some));
  }

  /** (T3) */
  async function removeWalked(tenant: TenantId, threads: ReadonlySet<string>, what: Removal): Promise<number> {
    const isOne = (row: CallRow): boolean => row.tenant === tenant && threads.has(row.thread);
    const rowOf = ({ id, thread }: CallRow): Parameters => [id, tenant, thread];
    const answers = await walk<AnswerRow>(
      { select: selectAnswers, first: [tenant, '', ''], next: ({ route, key }) => [tenant, route, key] },
      deleteAnswer,
      ({ route, key, body }) => (names(body, threads) ? [tenant, route, key] : null),
    );
    const calls = { first: ['', '', ''], next: (row: CallRow): Parameters => [row.id, row.tenant, row.thread] };
    const entries = await walk<CallRow>(
      { ...calls, select: selectEntries },
      what === 'copies' ? withoutDetail : deleteEntry,
      (row) => (isOne(row) ? rowOf(row) : null),
    );
    if (what === 'copies') return answers + entries;
    const attempts = await walk<CallRow>({ ...calls, select: selectAttempts }, deleteAttempts, (row) =>
      isOne(row) ? rowOf(row) : null,
    );
    return answers + entries + attempts;
  }

  /** Reads a table in the order of its keys, and changes the rows that `pick` names. Answers how many have changed. */
  async function walk<Row>(
    { select, first, next }: Way<Row>,
    change: string,
    pick: (row: Row) => Parameters | null,
  ): Promise<number> {
    let rows = 0;
    for (let after = first; ;) {
      const found = reader.all<Row>(select, ...after, rowsAtOnce);
      rows += await writer.rows(
        'prompt',
        change,
        found.flatMap((row) => {
          const picked = pick(row);
          return picked === null ? [] : [picked];
        }),
      );
      const last = found.at(-1);
      if (last === undefined || found.length < rowsAtOnce) return rows;
      after = next(last);
      await new Promise(setImmediate);
    }
  }

  return {
    remove: async (tenant, threads, what) => {
      if (threads.length === 0) return { rows: 0, bytes: 0 };
      let removed: Removed = { rows: await removeWalked(tenant, new Set(threads), what), bytes: 0 };
      for (let from = 0; from < threads.length; from += threadsAtOnce)
        removed = sum(removed, await removeSome(tenant, threads.slice(from, from + threadsAtOnce), what));
      return removed;
    },
  };
}

const sum = (one: Removed, other: Removed): Removed => ({
  rows: one.rows + other.rows,
  bytes: one.bytes + other.bytes,
});

type Parameters = readonly SQLInputValue[];

/** Through a table, some rows at a time: from its beginning, and from behind a row. */
interface Way<Row> {
  readonly select: string;
  readonly first: Parameters;
  readonly next: (row: Row) => Parameters;
}

interface CallRow {
  /** A call's, or the subject of the ledger. */
  readonly id: string;
  readonly tenant: TenantId;
  readonly thread: string;
}

interface AnswerRow {
  readonly route: string;
  readonly key: string;
  readonly body: string | null;
}

const selectAnswers =
  'SELECT route, key, body FROM idempotency WHERE tenant = ? AND (route, key) > (?, ?) ORDER BY route, key LIMIT ?';
const deleteAnswer = 'DELETE FROM idempotency WHERE tenant = ? AND route = ? AND key = ?';
const selectEntries =
  'SELECT subject AS id, tenant, thread FROM ledger WHERE (subject, tenant, thread) > (?, ?, ?) ' +
  'ORDER BY subject, tenant, thread LIMIT ?';
const deleteEntry = 'DELETE FROM ledger WHERE subject = ? AND tenant = ? AND thread = ?';
const withoutDetail =
  'UPDATE ledger SET detail = NULL WHERE subject = ? AND tenant = ? AND thread = ? AND detail IS NOT NULL';
const selectAttempts =
  'SELECT tool_call AS id, tenant, thread FROM attempts WHERE (tool_call, tenant, thread) > (?, ?, ?) ' +
  'GROUP BY tool_call, tenant, thread ORDER BY tool_call, tenant, thread LIMIT ?';
const deleteAttempts = 'DELETE FROM attempts WHERE tool_call = ? AND tenant = ? AND thread = ?';

const threadName = /"(thr_[^"\\]+)"/g;

/** Whether the text of an answer names one of the threads. */
const names = (body: string | null, threads: ReadonlySet<string>): boolean =>
  body !== null && [...body.matchAll(threadName)].some(([, thread = '']) => threads.has(thread));
