// Carries out one operation inside the writer's transaction. Failing, it throws what SQLite throws.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CommitAppender } from './append-commit.ts';
import type { Statement, WriteAnswer, WriteOperation } from './write-operation.ts';

/** What SQLite takes for "no limit". */
const pagesUnlimited = 0xff_ff_ff_fe;

export function createCarryOut(
  database: DatabaseSync,
  appender: CommitAppender,
): (operation: WriteOperation) => WriteAnswer {
  const statements = new Map<string, StatementSync>();

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
    switch (operation.do) {
      case 'append':
        return { did: 'append', outcome: appender.append(operation) };
      case 'rows': {
        let changes = 0;
        for (const parameters of operation.rows) changes += change({ sql: operation.sql, parameters });
        return { did: 'change', changes };
      }
      case 'steps':
        return { did: 'change', changes: changeAll(operation.steps) };
      case 'ask':
        return { did: 'ask', row: prepared(operation.sql).all(...operation.parameters)[0] ?? null };
      case 'limit':
        database.exec(`PRAGMA max_page_count = ${operation.pagesMax ?? pagesUnlimited}`);
        return { did: 'change', changes: 0 };
    }
  };
}
