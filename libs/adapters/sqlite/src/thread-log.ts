// The log of every thread, in one table. Contract: ports/thread-log.ts (L1..L8).
import type { Commit, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { Reader } from './database.ts';
import type { GroupWriter } from './group-writer.ts';
import type { OwedCommits } from './owed-commits.ts';
import { isBehind } from './places.ts';

interface CommitRow {
  readonly version: number;
  readonly count: number;
  readonly inputs: string;
  readonly at: number;
  readonly nonce: string;
  readonly trace: string | null;
  readonly kid: string | null;
  readonly prev: string;
  readonly hash: string;
  readonly body: string;
}

/** Rows read before the event loop gets a turn. */
const rowsPerTurn = 512;

const number = '(SELECT number FROM thread_numbers WHERE tenant = ?1 AND thread = ?2)';
const columns = 'c.count, c.inputs, c.at, c.nonce, c.trace, c.kid, c.prev, c.hash, c.body';

/**
 * Commits of a thread by their versions: those that have a place, and those behind them (S6). What is sorted and left out are
 * ids: bodies may be large.
 */
const select = (versions: string, order: 'ASC' | 'DESC', limit: string): string =>
  `WITH found AS (SELECT version, id FROM places WHERE number = ${number} AND version ${versions} UNION ALL ` +
  'SELECT version, id FROM commits ' +
  `WHERE ${isBehind} AND number = ${number} AND version ${versions} ORDER BY version ${order} LIMIT ${limit}) ` +
  `SELECT found.version AS version, ${columns} FROM found CROSS JOIN commits AS c ON c.id = found.id ORDER BY found.version ${order}`;

const selectFrom = select('>= ?3', 'ASC', '?4');
const selectBefore = select('< ?3', 'DESC', '1');
/** The commit of a thread that claimed an input, found the same way. */
const selectByInput =
  `WITH found AS (SELECT p.id FROM inputs AS i JOIN places AS p USING (number, version) WHERE number = ${number} AND i.input = ?3 UNION ALL ` +
  `SELECT id FROM commits WHERE ${isBehind} AND number = ${number} ` +
  'AND EXISTS (SELECT 1 FROM json_each(inputs) WHERE value = ?3) LIMIT 1) ' +
  `SELECT c.version, ${columns} FROM found CROSS JOIN commits AS c ON c.id = found.id`;

export function createThreadLog(writer: GroupWriter, reader: Reader, owed: OwedCommits): ThreadLog {
  return {
    append: (group) =>
      writer.append(group, ({ commit, owes }, answer) => {
        if (owes && (answer === 'appended' || answer === 'unknown')) owed.appended(commit, commit.version);
      }),
    expectAppend: () => writer.expect(),
    read: async (key, from, limit = Number.MAX_SAFE_INTEGER) => {
      const commits: Commit[] = [];
      let next = from;
      while (commits.length < limit) {
        const wanted = Math.min(rowsPerTurn, limit - commits.length);
        const rows = reader.all<CommitRow>(selectFrom, key.tenant, key.thread, next, wanted);
        for (const row of rows) commits.push(commitOf(key, row));
        const last = rows.at(-1);
        if (last === undefined || rows.length < wanted) break;
        next = last.version + last.count;
        await new Promise(setImmediate);
      }
      return commits;
    },
    at: async (key, position) => {
      const row = reader.one<CommitRow>(selectBefore, key.tenant, key.thread, position);
      return row !== null && row.version + row.count >= position ? commitOf(key, row) : null;
    },
    findByInputs: async (key, inputs) =>
      inputs.map((input) => {
        const row = reader.one<CommitRow>(selectByInput, key.tenant, key.thread, input);
        return row && commitOf(key, row);
      }),
    head: async (key) => {
      const row = reader.one<CommitRow>(selectBefore, key.tenant, key.thread, Number.MAX_SAFE_INTEGER);
      return row && commitOf(key, row);
    },
  };
}

function commitOf(key: ThreadKey, row: CommitRow): Commit {
  const { version, count, at, nonce, trace, kid, prev, hash, body } = row;
  const inputs = JSON.parse(row.inputs) as string[];
  return {
    v: 1,
    tenant: key.tenant,
    thread: key.thread,
    version,
    count,
    inputs,
    at,
    nonce,
    trace,
    kid,
    prev,
    hash,
    body,
  };
}
