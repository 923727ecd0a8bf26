// Opens `dormouse.db`: migrates it to this release's shape, and creates read-only connections for readers.
//
// Invariants:
//   O1. A newer database is refused before anything is written to it; a damaged one too. (schema S1)
//   O2. WAL with synchronous=FULL: a commit that was answered is on disk. No checkpoint runs on the path of a commit.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Fault } from '@dormouse/ports';
import { corrupt, faultOf, unavailable } from './fault-of.ts';
import { applicationId, releaseClaims, schemaSteps } from './schema.ts';
import { failureOf, troubleOf } from './sqlite-failure.ts';

const busyTimeoutMs = 5_000;
const readerCacheKib = 16_384;

/** Creates or upgrades the file. Leaves no connection open. */
export function prepareDatabase(file: string): void {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    const found = judgeVersion(database);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    upgrade(database, found);
    database.exec(releaseClaims); // their holder has ended: one process per directory
  } catch (error) {
    throw openingFault(file, error);
  } finally {
    database?.close();
  }
}

function judgeVersion(database: DatabaseSync): number {
  const version = pragma(database, 'user_version');
  const owner = pragma(database, 'application_id');
  const empty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!empty && owner !== applicationId) throw corrupt('It is an SQLite file, but Dormouse did not make it');
  if (version > schemaSteps.length) throw newer(version);
  return version;
}

function upgrade(database: DatabaseSync, from: number): void {
  if (from === schemaSteps.length) return;
  database.exec('BEGIN IMMEDIATE');
  for (const step of schemaSteps.slice(from)) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaSteps.length}; COMMIT`);
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

const newer = (version: number): Fault =>
  new Fault(
    'DATABASE_NEWER',
    `dormouse.db was written by a newer release (schema ${version}, this release knows ${schemaSteps.length}). ` +
      'Start that release again, or choose another data directory (--data DIR).',
  );

function openingFault(file: string, error: unknown): Error {
  if (error instanceof Fault) return error;
  const failure = failureOf(error);
  if (troubleOf(failure) !== 'not_writable') return faultOf(failure);
  return new Fault('DATA_DIR_UNWRITABLE', `${file} cannot be written (${failure.message}). Fix its permissions.`, {
    cause: error,
  });
}

/** Reads committed rows. Rows have the types that the schema declares. (schema S4) */
export interface Reader {
  all<Row>(sql: string, ...parameters: SQLInputValue[]): Row[];
  one<Row>(sql: string, ...parameters: SQLInputValue[]): Row | null;
  close(): void;
}

export function openReader(file: string): Reader {
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
  database.exec(`PRAGMA cache_size = -${readerCacheKib}; PRAGMA temp_store = MEMORY`);
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const prepared = (sql: string): ReturnType<DatabaseSync['prepare']> => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  let closed = false;
  const guarded = <Answer>(read: () => Answer): Answer => {
    if (closed) throw unavailable('The stores are closed.');
    try {
      return read();
    } catch (error) {
      throw faultOf(failureOf(error));
    }
  };
  return {
    all: <Row>(sql: string, ...parameters: SQLInputValue[]) => guarded(() => prepared(sql).all(...parameters) as Row[]),
    one: <Row>(sql: string, ...parameters: SQLInputValue[]) =>
      guarded(() => (prepared(sql).get(...parameters) ?? null) as Row | null),
    close: () => {
      closed = true;
      database.close();
    },
  };
}
