// Transactions without the writer's thread: on one processor that thread opens none ahead.
import { tenantId } from '@dormouse/ports';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCommitAppender } from './append-commit.ts';
import { prepareDatabase } from '../file/database.ts';
import { createTransactions, type Transactions } from './transaction.ts';
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

/** A commit of one event with one input of its own. The database refuses it when it has no body. */
function row(
  thread: string,
  version: number,
  body: string | null = '{}',
  name: string = `${thread}-${version}`,
): AppendRow {
  return [true, tenantId('acme'), thread, version, 1, [name], 1, name, null, null, '', 'hash', body as string];
}

const faulty: RowsOperation = { do: 'rows', sql: 'INSERT INTO nowhere VALUES (1)', rows: [[]] };
const failure = { failure: {} };

const stored = (): readonly unknown[] =>
  database
    .prepare('SELECT nonce FROM commits')
    .all()
    .map(({ nonce }) => nonce);
describe('a group', () => {
  it('X2 keeps the others, and their inputs, when one fails by its own fault', () => {
    expect(transactions.run([row('t', 0), faulty]).answers).toMatchObject(['appended', failure]);
    expect(transactions.run([row('u', 0, null), row('v', 0)]).answers).toMatchObject([failure, 'appended']);
    expect(stored()).toEqual(['t-0', 'v-0']);
    expect(transactions.run([row('t', 1, '{}', 't-0'), row('u', 0), row('v', 1, '{}', 'v-0')]).answers).toEqual([
      'duplicate',
      'appended',
      'duplicate',
    ]);
  });

  it('A4 refuses an input that is no text, alone', () => {
    const odd = row('u', 0, '{}', '\ud800');
    expect(transactions.run([row('t', 0), odd, row('v', 0)]).answers).toMatchObject(['appended', failure, 'appended']);
    expect(stored()).toEqual(['t-0', 'v-0']);
  });

  it('A1 is forgotten with its transaction, wherever its heads are remembered', () => {
    transactions.run([row('t', 0), row('u', 0), row('v', 0), row('t', 1)]); // two are remembered, twice: t in both
    expect(transactions.run([row('t', 2), faulty]).answers).toMatchObject(['appended', failure]);
    expect(transactions.run([row('t', 3)]).answers).toEqual(['appended']);
  });

  it('A1 finds the heads of threads again when their group had to be repeated', () => {
    transactions.run(['t', 'u', 'v', 'w', 'x'].map((thread) => row(thread, 0)));
    expect(transactions.run([row('u', 5), faulty, row('v', 1)]).answers).toMatchObject([
      'conflict',
      failure,
      'appended',
    ]);
  });

  it('X3 is unknown when COMMIT fails', () => {
    database.exec(
      'PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY); ' +
        'CREATE TABLE children (parent INTEGER REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED)',
    );
    const orphan: RowsOperation = { do: 'rows', sql: 'INSERT INTO children VALUES (7)', rows: [[]] };
    expect(transactions.run([row('t', 0), orphan]).answers).toMatchObject(['unknown', failure]);
    expect([database.isTransaction, stored()]).toEqual([false, []]);
    expect(transactions.run([row('t', 0)]).answers).toEqual(['appended']);
  });
});
