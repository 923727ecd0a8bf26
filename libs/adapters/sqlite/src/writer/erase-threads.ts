// Deletes logs of threads of a tenant inside the writer's transaction, some commits at a time.
//
// Invariants:
//   D1. Numbers of threads and ids of commits are never given again, though SQLite gives the highest plus one: each of
//       the two tables keeps a row with the highest number, which belongs to no tenant. (tenant-log T1)
//   D2. The writer's heads of these threads are forgotten in the same transaction: what a late writer brings for a
//       deleted thread is a conflict, or the first commit of a thread that the next call deletes. (append-commit A1)
//   D3. A call deletes at most `commitsAtOnce` commits, the oldest of each thread first, and then the numbers of those
//       threads that have none left: other writes wait for one call at most.
import type { TenantId } from '@dormouse/ports';
import type { DatabaseSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';

/** Rows of these have the number of their thread. */
export const numberedTables: readonly string[] = ['commits', 'inputs', 'owed'];

const threadsAtOnce = 200;
const commitsAtOnce = 1_000;
/** The thread of the row that keeps the highest id of a commit; threads are numbered from 1. (D1) */
const noThread = 0;
const noTenant = '';

interface NumberedThread {
  readonly number: number;
  readonly thread: string;
}

/**
 * Deletes logs of these threads, or of any of the tenant's when there is no list. Answers how many rows it has deleted;
 * 0 when none of them has a log any more.
 */
export type EraseThreads = (tenant: TenantId, threads: readonly string[] | null) => number;

export function createEraseThreads(database: DatabaseSync, appender: CommitAppender): EraseThreads {
  const ofTenant = database.prepare(
    `SELECT number, thread FROM thread_numbers WHERE tenant = ? ORDER BY number LIMIT ${threadsAtOnce}`,
  );
  const named = database.prepare(
    'SELECT number, thread FROM thread_numbers WHERE tenant = ? AND thread IN (SELECT value FROM json_each(?)) ' +
      `ORDER BY number LIMIT ${threadsAtOnce}`,
  );
  const numberedThreads = (tenant: TenantId, threads: readonly string[] | null): readonly NumberedThread[] =>
    (threads === null ? ofTenant.all(tenant) : named.all(tenant, JSON.stringify(threads))).map((row) => ({
      number: Number(row['number']),
      thread: String(row['thread']),
    }));

  return (tenant, threads) => {
    const found = numberedThreads(tenant, threads);
    if (found.length === 0) return 0;
    keepUnused(database); // (D1)
    for (const { thread } of found) appender.forgetThread(tenant, thread); // (D2)
    let rows = 0;
    let left = commitsAtOnce;
    for (const { number } of found) {
      const commits = deleteCommits(database, number, left);
      left -= commits;
      rows += commits;
      if (left <= 0) break; // (D3) the next call finds whether there are more
      for (const table of ['owed', 'thread_numbers'])
        rows += Number(database.prepare(`DELETE FROM ${table} WHERE number = ?`).run(number).changes);
    }
    return rows;
  };
}

/** With their inputs, which are keyed by their ids: each is found by the commit that decided it. (schema S5) */
function deleteCommits(database: DatabaseSync, number: number, commitsMax: number): number {
  const oldest = `SELECT id FROM commits WHERE number = ?1 ORDER BY version LIMIT ${commitsMax}`;
  database
    .prepare(
      'DELETE FROM inputs WHERE (input, number) IN (SELECT each.value, c.number FROM commits AS c, ' +
        `json_each(c.inputs) AS each WHERE c.id IN (${oldest}))`,
    )
    .run(number);
  return Number(database.prepare(`DELETE FROM commits WHERE id IN (${oldest})`).run(number).changes);
}

/** (D1) */
function keepUnused(database: DatabaseSync): void {
  const number = 'UPDATE thread_numbers SET number = (SELECT max(number) + 1 FROM thread_numbers) WHERE tenant = ?';
  if (database.prepare(number).run(noTenant).changes === 0)
    database.prepare('INSERT INTO thread_numbers (tenant, thread) VALUES (?, ?)').run(noTenant, 'deleted');
  const id = 'UPDATE commits SET id = (SELECT max(id) + 1 FROM commits) WHERE number = ?';
  if (database.prepare(id).run(noThread).changes === 0)
    database
      .prepare(
        'INSERT INTO commits (number, version, count, inputs, at, nonce, prev, hash, body) ' +
          "VALUES (?, 0, 0, '[]', 0, '', '', '', '')",
      )
      .run(noThread);
}
