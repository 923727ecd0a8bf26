// Deletes threads of a tenant inside the writer's transaction.
//
// Invariants:
//   D1. Numbers of threads and ids of commits are never given again, though SQLite gives the highest plus one: a row of
//       no tenant stands above those that are deleted. (tenant-log T1)
//   D2. The writer's heads are forgotten in the same transaction: what a late writer brings for a deleted thread is a
//       conflict, or the first commit of a thread that the next call deletes. (append-commit A1)
import type { DatabaseSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';

/** Rows of these have the number of their thread. */
export const numberedTables: readonly string[] = ['commits', 'inputs', 'owed'];

const threadsAtOnce = 200;
/** Of the commit above all others; threads are numbered from 1. */
const noThread = 0;
const noTenant = '';

/** Answers how many rows it has deleted; 0 when the tenant has no thread any more. */
export function createEraseThreads(database: DatabaseSync, appender: CommitAppender): (tenant: string) => number {
  return (tenant) => {
    const numbers = database
      .prepare(`SELECT number FROM thread_numbers WHERE tenant = ? ORDER BY number LIMIT ${threadsAtOnce}`)
      .all(tenant)
      .map(({ number }) => Number(number));
    if (numbers.length === 0) return 0;
    keepUnused(database); // (D1)
    appender.forget(); // (D2)
    let rows = 0;
    for (const table of [...numberedTables, 'thread_numbers']) {
      const remove = database.prepare(`DELETE FROM ${table} WHERE number IN (SELECT value FROM json_each(?))`);
      rows += Number(remove.run(JSON.stringify(numbers)).changes);
    }
    return rows;
  };
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
