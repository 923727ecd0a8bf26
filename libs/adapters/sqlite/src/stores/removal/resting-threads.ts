// Threads at rest: rows of `threads`. Contract: ports/stores/removal/resting-threads.ts.
//
// Invariants:
//   P1. Every list begins at an index of its own, which has only rows that it may list.
import type { RestingRoot, RestingThread, RestingThreads } from '@dormouse/ports';
import type { Reader } from '../../file/database.ts';
import type { GroupWriter } from '../../writer/group-writer.ts';

/** Of a thread that was forked from no other; NULL where that is not known. */
const notForked = '';

const behind = '(updated_at, thread) > (?, ?) ORDER BY updated_at, thread LIMIT ?';
export const selectRoots =
  "SELECT thread, updated_at AS updatedAt FROM threads WHERE tenant = ? AND parent IS NULL AND status IN ('idle', 'closed') " +
  `AND subscriptions = 0 AND updated_at < ? AND ${behind}`;
export const selectLeaving = `SELECT thread, updated_at AS updatedAt FROM threads WHERE tenant = ? AND parent IS NULL AND leaving_at IS NOT NULL AND ${behind}`;
export const selectFamily =
  'SELECT thread, status, updated_at AS updatedAt, leaving_at AS leavingAt FROM threads WHERE tenant = ? AND family = ? ' +
  'AND thread > ? ORDER BY thread LIMIT ?';
export const selectFork =
  "SELECT 1 AS found FROM threads WHERE tenant = ? AND forked_from > '' AND forked_from IN (SELECT value FROM json_each(?)) " +
  'AND family <> ? LIMIT 1';
const selectForks =
  "SELECT thread FROM threads WHERE tenant = ? AND forked_from > '' AND forked_from IN (SELECT value FROM json_each(?))";
const setLeaving = 'UPDATE threads SET leaving_at = ? WHERE tenant = ? AND thread IN (SELECT value FROM json_each(?))';
export const selectUnplaced =
  'SELECT thread FROM threads WHERE tenant = ? AND parent IS NULL AND forked_from IS NULL LIMIT ?';
const setForked = 'UPDATE threads SET forked_from = ? WHERE tenant = ? AND thread = ?';

const beforeAll: RestingRoot = { updatedAt: Number.MIN_SAFE_INTEGER, thread: '' };

export function createRestingThreads(writer: GroupWriter, reader: Reader): RestingThreads {
  return {
    roots: async (tenant, wanted, after, limit) => {
      const { updatedAt, thread } = after ?? beforeAll;
      return wanted === 'leaving'
        ? reader.all<RestingRoot>(selectLeaving, tenant, updatedAt, thread, limit)
        : reader.all<RestingRoot>(selectRoots, tenant, wanted.before, updatedAt, thread, limit);
    },
    family: async (tenant, family, after, limit) =>
      reader.all<RestingThread>(selectFamily, tenant, family, after ?? '', limit),
    areForkedFrom: async (tenant, threads, family) =>
      reader.one(selectFork, tenant, JSON.stringify(threads), family) !== null,
    forksOf: async (tenant, threads) =>
      reader.all<Pick<RestingRoot, 'thread'>>(selectForks, tenant, JSON.stringify(threads)).map(({ thread }) => thread),
    leave: (tenant, threads, at) => writer.run(setLeaving, at, tenant, JSON.stringify(threads)),
    unplaced: async (tenant, limit) =>
      reader.all<Pick<RestingRoot, 'thread'>>(selectUnplaced, tenant, limit).map(({ thread }) => thread),
    place: (tenant, thread, forkedFrom) => writer.run(setForked, forkedFrom ?? notForked, tenant, thread),
  };
}
