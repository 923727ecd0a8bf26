// Stores commits inside the writer's transaction: decides which commit wins a race, without failing the transaction.
//
// Invariants:
//   A1. Only the writer's process writes, so the heads it remembers are the heads; after a rollback it forgets them.
//   A2. A conflict is found by comparing versions (thread-log L1), a duplicate by its inputs (thread-log L2), both
//       before any part of the commit is inserted: neither leaves a trace in the log.
//   A3. The commit, its inputs and its owed row are inserted in one transaction; unique keys refuse a second one.
//       (schema S3)
//   A4. An input is well-formed text: a lone surrogate would be one text in the log and another one in the index.
import type { AppendOutcome, TenantId } from '@dormouse/ports';
import type { DatabaseSync } from 'node:sqlite';
import type { AppendRow } from './write-operation.ts';

export interface CommitAppender {
  append(row: AppendRow): AppendOutcome;
  /** The transaction was rolled back: the remembered heads are wrong. (A1) */
  forget(): void;
  /** The log of this thread is deleted. */
  forgetThread(tenant: TenantId, thread: string): void;
}

interface Head {
  readonly number: number;
  /** Version that the next commit must have. */
  version: number;
}

const headsMaxUsually = 50_000;

export function createCommitAppender(database: DatabaseSync, headsMax = headsMaxUsually): CommitAppender {
  const findNumber = database.prepare('SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?');
  const insertNumber = database.prepare('INSERT INTO thread_numbers (tenant, thread) VALUES (?, ?)');
  const findHead = database.prepare(
    'SELECT version + count AS next FROM commits WHERE number = ? ORDER BY version DESC LIMIT 1',
  );
  const insertCommit = database.prepare(
    'INSERT INTO commits (number, version, count, inputs, at, nonce, trace, kid, prev, hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const findInput = database.prepare('SELECT 1 FROM inputs WHERE input = ? AND number = ?');
  const insertInput = database.prepare('INSERT INTO inputs (input, number, version) VALUES (?, ?, ?)');
  const insertOwed = database.prepare('INSERT INTO owed (number, version) VALUES (?, ?)');

  // Two generations: the older one is dropped when the younger is full. Bounded, and cheap.
  let young = new Map<string, Head>();
  let old = new Map<string, Head>();

  function headOf(tenant: TenantId, thread: string): Head {
    const key = keyOf(tenant, thread);
    const known = young.get(key);
    if (known) return known;
    const head = old.get(key) ?? loadHead(tenant, thread);
    if (young.size >= headsMax) {
      old = young;
      young = new Map();
    }
    young.set(key, head);
    return head;
  }

  function loadHead(tenant: TenantId, thread: string): Head {
    const found = findNumber.get(tenant, thread);
    if (found === undefined) return { number: Number(insertNumber.run(tenant, thread).lastInsertRowid), version: 0 };
    const number = Number(found['number']);
    return { number, version: Number(findHead.get(number)?.['next'] ?? 0) };
  }

  function append(row: AppendRow): AppendOutcome {
    const [owes, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body] = row;
    if (!inputs.every((input) => input.isWellFormed())) throw new TypeError('an input with a lone surrogate'); // (A4)
    const head = headOf(tenant, thread);
    const { number } = head;
    if (version !== head.version) return 'conflict';
    if (inputs.some((input) => findInput.get(input, number) !== undefined)) return 'duplicate';
    insertCommit.run(number, version, count, JSON.stringify(inputs), at, nonce, trace, kid, prev, hash, body);
    for (const input of new Set(inputs)) insertInput.run(input, number, version); // (A3)
    if (owes) insertOwed.run(number, version);
    head.version = version + count;
    return 'appended';
  }

  return {
    append,
    forget: () => {
      young = new Map();
      old = new Map();
    },
    forgetThread: (tenant, thread) => {
      young.delete(keyOf(tenant, thread));
      old.delete(keyOf(tenant, thread));
    },
  };
}

const keyOf = (tenant: TenantId, thread: string): string => `${tenant} ${thread}`;
