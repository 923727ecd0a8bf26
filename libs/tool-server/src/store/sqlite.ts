/**
 * Owns: the SQLite that a data directory needs: Node's own.
 * Not here: what is stored (`sqlite-tables.ts`).
 *
 * N1. Where it is missing, one sentence says so. Without a data directory no SQLite is needed.
 */
import type * as nodeSqlite from 'node:sqlite';
import { isWorkers } from '../workers.ts';

/** Since this Node `node:sqlite` has all that is used here. */
const nodeMin = '22.16';

export type SqlValue = string | number | bigint | Uint8Array | null;
export type Row = Record<string, unknown>;

export interface Statement {
  /** The number of changed rows. */
  readonly run: (values: readonly SqlValue[]) => number;
  readonly all: (values: readonly SqlValue[]) => Row[];
  readonly one: (values: readonly SqlValue[]) => Row | undefined;
}

export interface Sqlite {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => Statement;
  readonly isInTransaction: () => boolean;
  readonly close: () => void;
}

/** What opens this file. @throws Error when this runtime has nothing that can. (N1) */
export function sqliteFor(file: string): () => Sqlite {
  const own = ownSqlite();
  if (own !== null) return () => openOwn(own, file);
  throw new Error(
    `a data directory needs Node ${nodeMin} or newer (node:sqlite), and this is ${runtimeName()}; ` +
      `${isWorkers() ? '' : 'take a newer Node, or '}leave out \`dataDir\` to keep everything in memory.`,
  );
}

type Own = Pick<typeof nodeSqlite, 'DatabaseSync'>;

/** Null where there is none, or one of an early form; Workers have its name alone. */
function ownSqlite(): Own | null {
  if (isWorkers()) return null;
  const own = process.getBuiltinModule?.('node:sqlite') as Own | undefined;
  if (own === undefined) return null;
  const database = new own.DatabaseSync(':memory:');
  const isComplete = 'isTransaction' in database;
  database.close();
  return isComplete ? own : null;
}

const runtimeName = (): string => (isWorkers() ? 'Cloudflare Workers' : process.version);

function openOwn({ DatabaseSync }: Own, file: string): Sqlite {
  const database = new DatabaseSync(file, { timeout: 1_000 });
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (values) => Number(statement.run(...values).changes),
        all: (values) => statement.all(...values),
        one: (values) => statement.get(...values),
      };
    },
    isInTransaction: () => database.isTransaction,
    close: () => database.close(),
  };
}
