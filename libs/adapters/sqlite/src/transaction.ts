// Carries out a group of operations in one transaction and gives each its own answer.
//
// Invariants:
//   X1. Nothing is answered before its transaction is on disk.
//   X2. An operation that fails by its own fault takes nobody with it: the group is repeated, each operation in a
//       savepoint (L4). A database that fails (disk full, input/output) fails the whole group, and all of it is undone.
//   X3. When COMMIT itself fails other than by a full disk, appends are `unknown`: their frames may be on disk. (L5)
//   X4. What is begun is carried out in the transaction that is open for its group, and stored only with a group that names it
//       first. In any other case it is undone; a group that names it later carries it out like everything else.
//   X5. Another process that holds the database is waited for by groups, `busyMsMax` each, and never by what is ahead of them.
import type { AppendOutcome } from '@dormouse/ports';
import type { DatabaseSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';
import { createCarryOut, isAppend } from './carry-out.ts';
import { failureOf, type SqliteFailure, troubleOf } from './sqlite-failure.ts';
import type { AppendRow, GroupMember, WriteAnswer, WriteOperation } from './write-operation.ts';

/** How long somebody else may hold the database before a group fails. */
export const busyMsMax = 5_000;

export interface GroupResult {
  readonly answers: readonly WriteAnswer[];
  /** False when nothing was stored. */
  readonly stored: boolean;
}

export interface Transactions {
  /** A group is about to come. */
  open(): void;
  /** Its first append is known. (X4) */
  begin(row: AppendRow): void;
  /** A transaction waits for its group. */
  isOpen(): boolean;
  /** The group has not come: as if nothing had been opened or begun. */
  abandon(): void;
  run(group: readonly GroupMember[]): GroupResult;
}

/** What was begun last and is not named yet; its outcome while it is carried out in the open transaction. */
interface Begun {
  readonly row: AppendRow;
  outcome: AppendOutcome | null;
}

export function createTransactions(database: DatabaseSync, appender: CommitAppender): Transactions {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const carryOut = createCarryOut(database, appender);
  let begun: Begun | null = null;

  function rollBack(): void {
    if (database.isTransaction) database.exec('ROLLBACK');
    if (begun !== null) begun.outcome = null;
  }

  function undo(): void {
    appender.forget();
    rollBack();
  }

  function abandon(): void {
    if (begun !== null && begun.outcome !== null) appender.forget(begun.row);
    rollBack();
  }

  /** Whatever fails here is met again by the group, which can say so. */
  function ahead(work: () => void): void {
    if (!database.isTransaction && !hasBegunAtOnce()) return;
    try {
      work();
    } catch {
      undo();
    }
  }

  /** (X5) */
  function hasBegunAtOnce(): boolean {
    database.exec('PRAGMA busy_timeout = 0'); // not prepared: it would take effect then, not when it is run
    try {
      begin.run();
      return true;
    } catch {
      return false;
    } finally {
      database.exec(`PRAGMA busy_timeout = ${busyMsMax}`);
    }
  }

  /** The group with what was begun in its place, and that one's outcome when it needs not be carried out again. (X4) */
  function named(group: readonly GroupMember[]): {
    readonly operations: readonly WriteOperation[];
    readonly first: AppendOutcome | null;
  } {
    const place = group.indexOf('begun');
    if (place !== 0 && begun !== null && begun.outcome !== null) abandon();
    if (place < 0) return { operations: group as readonly WriteOperation[], first: null };
    if (begun === null) throw new Error('a group names what was never begun');
    const { row, outcome } = begun;
    begun = null;
    return { operations: group.with(place, row) as readonly WriteOperation[], first: outcome };
  }

  /** Null when one operation failed by its own fault and everything is undone. (X2) */
  function together(
    group: readonly WriteOperation[],
    each: (operation: WriteOperation) => WriteAnswer,
    first: AppendOutcome | null,
  ): GroupResult | null {
    let committing = false;
    try {
      if (!database.isTransaction) begin.run();
      const answers = group.map((operation, place) => (place === 0 && first !== null ? first : each(operation)));
      committing = true;
      commit.run();
      return { answers, stored: true };
    } catch (error) {
      undo();
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
    open: () => ahead(() => {}),
    begin: (row) => {
      if (begun !== null && begun.outcome !== null) abandon();
      const next: Begun = { row, outcome: null };
      begun = next;
      ahead(() => {
        next.outcome = appender.append(row);
      });
    },
    isOpen: () => database.isTransaction,
    abandon,
    run: (group) => {
      const { operations, first } = named(group);
      const result = together(operations, carryOut, first) ?? together(operations, inSavepoint, null);
      if (result === null) throw new Error('a group failed twice by the fault of one operation');
      return result;
    },
  };
}

/** (X3) */
const failed = (group: readonly WriteOperation[], failure: SqliteFailure, uncertain: boolean): WriteAnswer[] =>
  group.map((operation) => (uncertain && isAppend(operation) ? 'unknown' : { failure }));
