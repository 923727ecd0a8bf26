// What is begun before its group is there, without the thread that does it: on one processor nothing is begun by that one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCommitAppender } from './append-commit.ts';
import { prepareDatabase } from './database.ts';
import { busyMsMax, createTransactions, type Transactions } from './transaction.ts';
import type { AppendRow, RowsOperation } from './write-operation.ts';

let directory: string;
let file: string;
let database: DatabaseSync;
let transactions: Transactions;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dormouse-transaction-'));
  file = join(directory, 'a.db');
  prepareDatabase(file);
  database = new DatabaseSync(file);
  transactions = createTransactions(database, createCommitAppender(database, 2));
});

afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

/** A commit of one event with one input of its own. Without a body the database refuses it, when its input is claimed already. */
function row(thread: string, version: number, body: string | null = '{}'): AppendRow {
  const name = `${thread}-${version}`;
  return [true, false, 'acme', thread, version, 1, [name], 1, name, null, null, '', 'hash', body as string];
}

const faulty: RowsOperation = { do: 'rows', sql: 'INSERT INTO nowhere VALUES (1)', rows: [[]] };
const failure = { failure: {} };

const stored = (): readonly unknown[] =>
  database
    .prepare('SELECT nonce FROM commits')
    .all()
    .map(({ nonce }) => nonce);
const claimed = (): readonly unknown[] =>
  database
    .prepare('SELECT input FROM inputs')
    .all()
    .map(({ input }) => input);

describe('what is begun', () => {
  it('is carried out before its group comes, and not twice', () => {
    transactions.begin(row('t', 0));
    expect([transactions.isOpen(), stored()]).toEqual([true, ['t-0']]);
    expect(transactions.run(['begun', row('t', 1)]).answers).toEqual(['appended', 'appended']);
    expect([transactions.isOpen(), stored()]).toEqual([false, ['t-0', 't-1']]);
  });

  it('X4 is worth nothing until a group names it', () => {
    transactions.begin(row('t', 0));
    expect(transactions.run([row('t', 0)]).answers).toEqual(['appended']);
    transactions.begin(row('t', 1));
    transactions.abandon();
    expect([transactions.isOpen(), stored()]).toEqual([false, ['t-0']]);
    expect(transactions.run(['begun']).answers).toEqual(['appended']);
  });

  it('X2 is carried out again, before it is answered, when the fault of another has undone it', () => {
    transactions.begin(row('t', 0));
    expect(transactions.run(['begun', faulty]).answers).toMatchObject(['appended', failure]);
    expect(stored()).toEqual(['t-0']);
  });

  it('X4 leaves nothing when it fails, in the database or in memory', () => {
    transactions.begin(row('t', 0, null));
    expect(transactions.isOpen()).toBe(false);
    expect(transactions.run([row('t', 0)]).answers).toEqual(['appended']);
    expect(claimed()).toEqual(['t-0']);
  });

  it('X2 fails by its own fault in its group too', () => {
    transactions.begin(row('t', 0, null));
    expect(transactions.run(['begun', row('u', 0)]).answers).toMatchObject([failure, 'appended']);
    expect([stored(), claimed()]).toEqual([['u-0'], ['u-0']]);
  });

  it('A1 is forgotten with its transaction, wherever its head is remembered', () => {
    transactions.run([row('t', 0), row('u', 0), row('v', 0), row('t', 1)]); // two are remembered, twice: t in both
    transactions.begin(row('t', 2));
    transactions.abandon();
    expect(transactions.run([row('t', 2)]).answers).toEqual(['appended']);
  });

  it('X3 is unknown when COMMIT fails', () => {
    database.exec(
      'PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY); ' +
        'CREATE TABLE children (parent INTEGER REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const orphan: RowsOperation = { do: 'rows', sql: 'INSERT INTO children VALUES (7)', rows: [[]] };
    transactions.begin(row('t', 0));
    expect(transactions.run(['begun', orphan]).answers).toMatchObject(['unknown', failure]);
    expect([transactions.isOpen(), stored()]).toEqual([false, []]);
    expect(transactions.run([row('t', 0)]).answers).toEqual(['appended']);
  });

  it('X5 waits for nobody who holds the database, and leaves the group its patience', () => {
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const from = performance.now();
    transactions.open();
    for (let version = 0; version < 2; version += 1) transactions.begin(row('t', version));
    expect(performance.now() - from).toBeLessThan(busyMsMax);
    expect(transactions.isOpen()).toBe(false);
    expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: busyMsMax });
    other.exec('ROLLBACK');
    other.close();
    expect(transactions.run([row('t', 0)]).answers).toEqual(['appended']);
  });
});
