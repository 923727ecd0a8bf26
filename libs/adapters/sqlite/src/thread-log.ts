// The log of every thread, in one table. Contract: ports/thread-log.ts (L1..L8).
import type { Commit, ThreadKey, ThreadLog } from '@dormouse/ports';
import type { Reader } from './database.ts';
import type { GroupWriter } from './group-writer.ts';
import type { OwedCommits } from './owed-commits.ts';

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

const number = '(SELECT number FROM thread_numbers WHERE tenant = ? AND thread = ?)';
const columns = 'version, count, inputs, at, nonce, trace, kid, prev, hash, body';
const selectFrom = `SELECT ${columns} FROM commits WHERE number = ${number} AND version >= ? ORDER BY version LIMIT ?`;
const selectAt = `SELECT ${columns} FROM commits WHERE number = ${number} AND version < ? ORDER BY version DESC LIMIT 1`;
const selectHead = `SELECT ${columns} FROM commits WHERE number = ${number} ORDER BY version DESC LIMIT 1`;
const selectByInput =
  `SELECT ${columns} FROM commits WHERE number = ${number} AND version = ` +
  `(SELECT version FROM inputs WHERE number = ${number} AND input = ?)`;

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
      const row = reader.one<CommitRow>(selectAt, key.tenant, key.thread, position);
      return row !== null && row.version + row.count >= position ? commitOf(key, row) : null;
    },
    findByInputs: async (key, inputs) =>
      inputs.map((input) => {
        const row = reader.one<CommitRow>(selectByInput, key.tenant, key.thread, key.tenant, key.thread, input);
        return row && commitOf(key, row);
      }),
    head: async (key) => {
      const row = reader.one<CommitRow>(selectHead, key.tenant, key.thread);
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
