// Stores commits inside the writer's transaction: who wins a race is decided here, without failing the transaction.
//
// Invariants:
//   A1. The writer is the only one who writes, so the heads it remembers are the heads; after a rollback it forgets them.
//   A2. A conflict is found by comparing versions before anything is inserted (L1); a duplicate by the unique index on
//       inputs, and what the commit had inserted until then is taken out again (L2). Neither leaves a trace.
//   A3. Places are written in the transaction of the commit that makes them `placesAtOnce` behind, and before a head is looked for:
//       so that a look at a thread goes through no more than that many commits. (S6)
import type { AppendOutcome } from '@dormouse/ports';
import type { DatabaseSync } from 'node:sqlite';
import type { AppendRow } from './write-operation.ts';

export interface CommitAppender {
  append(row: AppendRow): AppendOutcome;
  /** The transaction was rolled back: what was remembered of it is wrong. (A1) */
  forget(): void;
}

interface Head {
  readonly number: number;
  /** Version that the next commit must have. */
  version: number;
}

const headsMaxUsually = 50_000;
const placesAtOnce = 512;

export function createCommitAppender(database: DatabaseSync, headsMax = headsMaxUsually): CommitAppender {
  const findNumber = database.prepare('SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?');
  const insertNumber = database.prepare('INSERT INTO thread_numbers (tenant, thread) VALUES (?, ?)');
  const findHead = database.prepare(
    'SELECT c.version + c.count AS next FROM places AS p JOIN commits AS c ON c.id = p.id WHERE p.number = ? ORDER BY p.version DESC LIMIT 1',
  );
  const insertPlaces = database.prepare(
    'INSERT INTO places (number, version, id) SELECT number, version, id FROM commits WHERE id > (SELECT upto FROM placed) ORDER BY number, version',
  );
  const movePlaced = database.prepare('UPDATE placed SET upto = (SELECT max(id) FROM commits)');
  const insertInput = database.prepare(
    'INSERT INTO inputs (number, input, version) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const deleteInput = database.prepare('DELETE FROM inputs WHERE number = ? AND input = ?');
  const insertCommit = database.prepare(
    'INSERT INTO commits (number, version, count, inputs, at, nonce, trace, kid, prev, hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const insertOwed = database.prepare('INSERT INTO owed (number, version) VALUES (?, ?)');

  // Two generations: the older one is dropped when the younger is full. Bounded, and cheap to keep.
  let young = new Map<string, Head>();
  let old = new Map<string, Head>();
  /** Commits without a place, at most: nobody knows how many there are at first, or after a rollback. */
  let unplaced = placesAtOnce;

  /** (A3) */
  function place(): void {
    if (insertPlaces.run().changes > 0) movePlaced.run();
    unplaced = 0;
  }

  function headOf(tenant: string, thread: string): Head {
    const key = `${tenant} ${thread}`;
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

  function loadHead(tenant: string, thread: string): Head {
    const found = findNumber.get(tenant, thread);
    if (found === undefined) return { number: Number(insertNumber.run(tenant, thread).lastInsertRowid), version: 0 };
    const number = Number(found['number']);
    if (unplaced > 0) place();
    return { number, version: Number(findHead.get(number)?.['next'] ?? 0) };
  }

  function claimInputs(number: number, version: number, inputs: readonly string[]): boolean {
    for (const [index, input] of inputs.entries()) {
      // An id that the commit names twice is one input.
      if (insertInput.run(number, input, version).changes === 1 || inputs.indexOf(input) < index) continue;
      for (const claimed of inputs.slice(0, index)) deleteInput.run(number, claimed);
      return false;
    }
    return true;
  }

  function append(row: AppendRow): AppendOutcome {
    const [owes, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body] = row;
    const head = headOf(tenant, thread);
    const { number } = head;
    if (version !== head.version) return 'conflict';
    if (!claimInputs(number, version, inputs)) return 'duplicate';
    insertCommit.run(number, version, count, JSON.stringify(inputs), at, nonce, trace, kid, prev, hash, body);
    if (owes) insertOwed.run(number, version);
    head.version = version + count;
    unplaced += 1;
    if (unplaced >= placesAtOnce) place();
    return 'appended';
  }

  return {
    append,
    forget: () => {
      young = new Map();
      old = new Map();
      unplaced = placesAtOnce;
    },
  };
}
