// Runs one operation inside the writer's transaction. If it fails, it throws what SQLite throws.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';
import { createEraseThreads } from './erase-threads.ts';
import type { AppendRow, Statement, WriteAnswer, WriteOperation } from './write-operation.ts';

/** SQLite's value for "no limit". */
const pagesUnlimited = 0xff_ff_ff_fe;

export const isAppend = (operation: WriteOperation): operation is AppendRow => Array.isArray(operation);

export function createCarryOut(
  database: DatabaseSync,
  appender: CommitAppender,
): (operation: WriteOperation) => WriteAnswer {
  const statements = new Map<string, StatementSync>();
  const eraseThreads = createEraseThreads(database, appender);

  function prepared(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  const change = ({ sql, parameters }: Statement): number => Number(prepared(sql).run(...parameters).changes);

  function changeAll(steps: readonly Statement[]): number {
    const [first, ...others] = steps;
    const changes = first ? change(first) : 0;
    if (changes > 0) for (const step of others) change(step);
    return changes;
  }

  return (operation) => {
    if (isAppend(operation)) return appender.append(operation);
    switch (operation.do) {
      case 'rows': {
        let changes = 0;
        for (const parameters of operation.rows) changes += change({ sql: operation.sql, parameters });
        return changes;
      }
      case 'steps':
        return changeAll(operation.steps);
      case 'ask':
        if (operation.before !== null) change(operation.before);
        return { row: prepared(operation.sql).all(...operation.parameters)[0] ?? null };
      case 'limit':
        database.exec(`PRAGMA max_page_count = ${operation.pagesMax ?? pagesUnlimited}`);
        return 0;
      case 'scrub':
        return 0; // after the transaction
      case 'erase':
        return eraseThreads(operation.tenant, operation.threads);
    }
  };
}
