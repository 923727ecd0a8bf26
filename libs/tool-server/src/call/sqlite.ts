/**
 * Owns: which SQLite this process has: Node's own, or where that is missing a WebAssembly one, for memory only.
 * Not here: what is stored (`database.ts`).
 *
 * N1. A file is opened by Node's own SQLite only: the other one cannot promise what it writes.
 * N2. What is missing is said in one sentence, with the command that brings it.
 */
import { createRequire } from 'node:module';
import type * as nodeSqlite from 'node:sqlite';
import type * as wasmSqlite3 from 'node-sqlite3-wasm';

/** Since this Node `node:sqlite` has all that is used here. */
const nodeMin = '22.16';
const memory = ':memory:';

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

/** What opens this file, or `:memory:`. @throws Error when this Node has nothing that can. (N2) */
export function sqliteFor(file: string): () => Sqlite {
  const own = ownSqlite();
  if (own !== null) return () => openOwn(own, file);
  if (file !== memory)
    throw new Error(
      `a data directory needs Node ${nodeMin} or newer (node:sqlite), and this is ${process.version}; ` +
        'take a newer Node, or leave out `dataDir` to keep everything in memory.',
    ); // (N1)
  const wasm = wasmSqlite();
  return () => openWasm(wasm);
}

type Own = Pick<typeof nodeSqlite, 'DatabaseSync'>;

/** Null where this Node has none, or one of an early form. */
function ownSqlite(): Own | null {
  const own = process.getBuiltinModule?.('node:sqlite') as Own | undefined;
  if (own === undefined) return null;
  const database = new own.DatabaseSync(memory);
  const isComplete = 'isTransaction' in database;
  database.close();
  return isComplete ? own : null;
}

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

type Wasm = Pick<typeof wasmSqlite3, 'Database'>;

/** (N2) */
export function wasmSqlite(): Wasm {
  try {
    return createRequire(import.meta.url)('node-sqlite3-wasm') as Wasm;
  } catch (error) {
    throw new Error(
      `a tool server needs Node ${nodeMin} or newer (node:sqlite), and this is ${process.version}; ` +
        'take a newer Node, or install what replaces it in memory: npm install node-sqlite3-wasm',
      { cause: error },
    );
  }
}

export function openWasm({ Database }: Wasm): Sqlite {
  const database = new Database(memory);
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        run: (values) => statement.run([...values]).changes,
        all: (values) => statement.all([...values]) as Row[],
        one: (values) => (statement.all([...values]) as Row[])[0], // its `get` leaves the statement open, and the table locked
      };
    },
    isInTransaction: () => database.inTransaction,
    close: () => database.close(),
  };
}
