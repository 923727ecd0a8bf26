// The log of every thread, in one table. Contract: ports/log/thread-log.ts (L1..L8).
import type { Commit, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';
import type { OwedCommits } from '../buses/owed-commits.ts';

export interface CommitRow {
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

/** Rows read in one tick of the event loop. */
const rowsPerTick = 512;

const ofThread = 'c.number = (SELECT number FROM thread_numbers WHERE tenant = ?1 AND thread = ?2)';
export const commitColumns = 'c.version, c.count, c.inputs, c.at, c.nonce, c.trace, c.kid, c.prev, c.hash, c.body';

const selectFrom = `SELECT ${commitColumns} FROM commits AS c WHERE ${ofThread} AND c.version >= ?3 ORDER BY c.version LIMIT ?4`;
const selectBefore = `SELECT ${commitColumns} FROM commits AS c WHERE ${ofThread} AND c.version < ?3 ORDER BY c.version DESC LIMIT 1`;
/** The commit of a thread that claimed an input. */
const selectByInput =
  `SELECT ${commitColumns} FROM inputs AS i JOIN commits AS c ON c.number = i.number AND c.version = i.version ` +
  `WHERE ${ofThread} AND i.number = c.number AND i.input = ?3`;

export function createThreadLog(writer: GroupWriter, reader: Reader, owed: OwedCommits): ThreadLog {
  return {
    append: (group) =>
      writer.append(group, ({ commit, owes }, answer) => {
        if (owes && (answer === 'appended' || answer === 'unknown')) owed.appended(commit, commit.version);
      }),
    read: async (key, from, limit = Number.MAX_SAFE_INTEGER) => {
      const commits: Commit[] = [];
      let next = from;
      while (commits.length < limit) {
        const wanted = Math.min(rowsPerTick, limit - commits.length);
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

export function commitOf(key: ThreadKey, row: CommitRow): Commit {
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
