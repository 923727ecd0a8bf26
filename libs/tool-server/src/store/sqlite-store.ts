/**
 * Owns: the store of a tool server in a data directory: its one SQLite file, the schema, and the key of its vault.
 *
 * D1. One process per data directory: the file is locked exclusively, and a second opener is refused.
 * D2. WAL with synchronous=FULL: what was committed is on disk when the call returns.
 * D3. A transaction is synchronous: nothing else of this process runs in between.
 * D4. A newer schema, and a key that does not fit, are refused at start.
 * D5. The data directory's entry, its key and the entries of its files are flushed before the first value is sealed: a
 *     power cut leaves no value behind whose key is lost.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flushDirectory, flushFile, makeDirectory, writeDurably } from './durable-file.ts';
import { type Sqlite, sqliteFor, type SqlValue, type Statement } from './sqlite.ts';
import { type Sql, sqliteTables } from './sqlite-tables.ts';
import type { Store, Values } from './store.ts';
import { createVault, type Vault, vaultKeyBytes } from '../ask/vault.ts';

/** The changes of each version; a directory of an older one gets those that it lacks. */
const schemas = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE calls (
    thread TEXT NOT NULL, call TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, sealed BLOB,
    at INTEGER NOT NULL, restarts INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, call)) WITHOUT ROWID;
  CREATE INDEX calls_by_state ON calls (state, at);
  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, lane TEXT NOT NULL, message TEXT NOT NULL, sealed BLOB NOT NULL,
    subscription TEXT, at INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX outbox_by_subscription ON outbox (subscription) WHERE subscription IS NOT NULL;
  CREATE TABLE subscriptions (
    id TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL, sealed BLOB NOT NULL,
    at INTEGER NOT NULL, expires INTEGER NOT NULL, UNIQUE (thread, call)) WITHOUT ROWID;
  CREATE TABLE events (subscription TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (subscription, event)) WITHOUT ROWID;
  CREATE TABLE threads (thread TEXT PRIMARY KEY, seen INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE memory (thread TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (thread, name)) WITHOUT ROWID;
  CREATE TABLE views (thread TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (thread, type)) WITHOUT ROWID;
  CREATE TABLE authorizations (state TEXT PRIMARY KEY, sealed BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE tokens (provider TEXT NOT NULL, owner TEXT NOT NULL, sealed BLOB NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (provider, owner)) WITHOUT ROWID;
`,
  `
  ALTER TABLE calls ADD COLUMN asking INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE questions (
    path TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, ordinal INTEGER NOT NULL, sealed BLOB NOT NULL,
    expires INTEGER NOT NULL, UNIQUE (thread, call, ordinal)) WITHOUT ROWID;`,
  // A runtime may use an id again: rows refer to a key of our own, and `sub_<key>` is the subscription of a call.
  `
  CREATE TABLE taken (
    key TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, sealed BLOB,
    at INTEGER NOT NULL, restarts INTEGER NOT NULL DEFAULT 0, asking INTEGER NOT NULL DEFAULT 0, work TEXT, delivery TEXT,
    answer BLOB) WITHOUT ROWID;
  INSERT INTO taken SELECT
    coalesce((SELECT substr(id, 5) FROM subscriptions AS s WHERE s.thread = c.thread AND s.call = c.call), hex(randomblob(16))),
    thread, call, state, operation, sealed, at, restarts, asking, NULL, NULL, NULL FROM calls AS c;
  CREATE TABLE asked (
    path TEXT PRIMARY KEY, key TEXT NOT NULL, call TEXT NOT NULL, ordinal INTEGER NOT NULL, sealed BLOB NOT NULL,
    expires INTEGER NOT NULL, UNIQUE (key, ordinal)) WITHOUT ROWID;
  INSERT INTO asked SELECT path, key, q.call, ordinal, q.sealed, expires
    FROM questions AS q JOIN taken AS t ON t.thread = q.thread AND t.call = q.call;
  CREATE TABLE opened (
    id TEXT PRIMARY KEY, thread TEXT NOT NULL, call TEXT NOT NULL, tool TEXT NOT NULL, sealed BLOB NOT NULL,
    at INTEGER NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO opened SELECT * FROM subscriptions;
  DROP TABLE calls; DROP TABLE questions; DROP TABLE subscriptions;
  ALTER TABLE taken RENAME TO calls; ALTER TABLE asked RENAME TO questions; ALTER TABLE opened RENAME TO subscriptions;
  CREATE INDEX calls_by_state ON calls (state, at);
  CREATE INDEX calls_by_call ON calls (thread, call, at);
  CREATE INDEX subscriptions_by_call ON subscriptions (thread, call);`,
];
const schemaVersion = schemas.length;

/** The store in `dataDir`, made when there is none. @throws Error for a directory that cannot be used. */
export function openSqliteStore(dataDir: string, encryptionKey?: Uint8Array): Store {
  const file = join(dataDir, 'tool-server.db');
  const open = sqliteFor(file); // a Node that cannot leaves no directory behind
  makeDirectory(dataDir); // (D5)
  const sqlite = open();
  try {
    lock(sqlite, file);
    prepare(sqlite);
    const vault = createVault(encryptionKey ?? keyOf(dataDir));
    if (encryptionKey !== undefined) flushDirectory(dataDir); // (D5)
    const tables = sqliteTables(sqlOf(sqlite));
    checkKey(tables.values, vault);
    return {
      vault,
      transaction: transactionOf(sqlite),
      ...tables,
      copyInto: (directory) => copyInto(sqlite, dataDir, directory),
      close: () => sqlite.close(),
    };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** (D1) */
function lock(sqlite: Sqlite, file: string): void {
  sqlite.exec('PRAGMA locking_mode = EXCLUSIVE');
  try {
    sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT'); // (D2)
  } catch (error) {
    throw new Error(`${file} cannot be opened; does another process use this data directory?`, { cause: error });
  }
}

function prepare(sqlite: Sqlite): void {
  const version = Number(sqlite.prepare('PRAGMA user_version').one([])?.['user_version']);
  if (version > schemaVersion) throw new Error(`the data directory was written by a newer release (${version})`); // (D4)
  if (version === schemaVersion) return;
  sqlite.exec(`BEGIN; ${schemas.slice(version).join('\n')} PRAGMA user_version = ${schemaVersion}; COMMIT`);
}

function keyOf(dataDir: string): Uint8Array {
  const file = join(dataDir, 'key');
  if (!existsSync(file)) writeDurably(dataDir, 'key', randomBytes(vaultKeyBytes).toString('base64')); // (D5)
  chmodSync(file, 0o600);
  return Buffer.from(readFileSync(file, 'utf8'), 'base64');
}

/** (D4) */
function checkKey(values: Values, vault: Vault): void {
  const check = values.get('check');
  if (check === undefined) return values.add('check', vault.seal('check', 'dormouse'));
  try {
    vault.open('check', check);
  } catch (error) {
    throw new Error('the encryption key does not fit the data directory', { cause: error });
  }
}

function sqlOf(sqlite: Sqlite): Sql {
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const known = statements.get(sql) ?? sqlite.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    run: (sql, ...values) => prepared(sql).run(values),
    all: <Found>(sql: string, ...values: SqlValue[]) => prepared(sql).all(values) as Found[],
    one: <Found>(sql: string, ...values: SqlValue[]) => prepared(sql).one(values) as Found | undefined,
  };
}

/** (D3) */
const transactionOf =
  (sqlite: Sqlite): Store['transaction'] =>
  (work) => {
    if (sqlite.isInTransaction()) return work();
    sqlite.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      sqlite.exec('COMMIT');
      return value;
    } catch (error) {
      if (sqlite.isInTransaction()) sqlite.exec('ROLLBACK');
      throw error;
    }
  };

/** By the connection that owns the file: no other one may open it. (D1) */
function copyInto(sqlite: Sqlite, from: string, to: string): void {
  const file = join(to, 'tool-server.db');
  sqlite.prepare('VACUUM INTO ?').run([file]);
  chmodSync(file, 0o600);
  flushFile(file);
  const key = join(from, 'key');
  if (existsSync(key)) writeDurably(to, 'key', readFileSync(key, 'utf8'));
  flushDirectory(to);
}
