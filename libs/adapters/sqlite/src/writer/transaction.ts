// Runs a group of operations in one transaction and gives each its own answer.
//
// Invariants:
//   X1. Nothing is answered before its transaction is on disk.
//   X2. An operation that fails by its own fault fails no other: the group is repeated, each operation in a savepoint
//       (thread-log L4). A database that fails (disk full, input/output) fails the whole group, and all of it is
//       undone.
//   X3. When COMMIT itself fails other than by a full disk, appends are `unknown`: their frames may be on disk.
//       (thread-log L5)
//   X4. A group waits `busyMsMax` for another process that has locked the database.
import type { DatabaseSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';
import { createCarryOut, isAppend } from './carry-out.ts';
import { failureOf, type SqliteFailure, troubleOf } from '../file/sqlite-failure.ts';
import type { WriteAnswer, WriteOperation } from './write-operation.ts';

/** How long another process may lock the database before a group fails. */
export const busyMsMax = 5_000;

export interface GroupResult {
  readonly answers: readonly WriteAnswer[];
  /** False when nothing was stored. */
  readonly stored: boolean;
}

export interface Transactions {
  run(group: readonly WriteOperation[]): GroupResult;
}

export function createTransactions(database: DatabaseSync, appender: CommitAppender): Transactions {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const carryOut = createCarryOut(database, appender);

  /** Null when one operation failed by its own fault and everything is undone. (X2) */
  function inOneTransaction(
    group: readonly WriteOperation[],
    each: (operation: WriteOperation) => WriteAnswer,
  ): GroupResult | null {
    let committing = false;
    try {
      begin.run(); // (X4)
      const answers = group.map(each);
      committing = true;
      commit.run();
      return { answers, stored: true };
    } catch (error) {
      appender.forget();
      if (database.isTransaction) database.exec('ROLLBACK');
      const failure = failureOf(error);
      const trouble = troubleOf(failure);
      if (trouble === 'own' && !committing) return null;
      return { answers: failed(group, failure, committing && trouble !== 'full'), stored: false };
    }
  }

  function inSavepoint(operation: WriteOperation): WriteAnswer {
    database.exec('SAVEPOINT operation');
    try {
      return carryOut(operation);
    } catch (error) {
      const failure = failureOf(error);
      if (troubleOf(failure) !== 'own') throw error;
      appender.forget();
      database.exec('ROLLBACK TO operation');
      return { failure };
    } finally {
      if (database.isTransaction) database.exec('RELEASE operation');
    }
  }

  return {
    run: (group) => {
      const result = inOneTransaction(group, carryOut) ?? inOneTransaction(group, inSavepoint);
      if (result === null) throw new Error('a group failed twice by the fault of one operation');
      return result;
    },
  };
}

/** (X3) */
const failed = (group: readonly WriteOperation[], failure: SqliteFailure, uncertain: boolean): WriteAnswer[] =>
  group.map((operation) => (uncertain && isAppend(operation) ? 'unknown' : { failure }));
