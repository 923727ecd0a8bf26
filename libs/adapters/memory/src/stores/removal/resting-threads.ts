// Threads at rest, in memory. Contract: ports/stores/removal/resting-threads.ts. Every row says whether its thread was
// forked.
import type { RestingRoot, RestingThreads, RootsWanted, ThreadRow, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { type DirectoryStore, subscriptionsOf } from '../../log/thread-directory.ts';
import { nameOf } from '../../log/thread-log.ts';
import { byThread, rowsOf } from '../rows.ts';

export function createRestingThreads(rows: DirectoryStore, passage: Passage): RestingThreads {
  const isWanted = (row: ThreadRow, wanted: RootsWanted): boolean =>
    wanted === 'leaving'
      ? row.leavingAt !== undefined
      : (row.status === 'idle' || row.status === 'closed') &&
        row.updatedAt < wanted.before &&
        subscriptionsOf(rows, row) === 0;

  function change(tenant: TenantId, threads: readonly string[], changed: (row: ThreadRow) => ThreadRow): void {
    for (const thread of threads) {
      const row = rows.get(nameOf({ tenant, thread }));
      if (row !== undefined) rows.set(nameOf(row), changed(row));
    }
  }

  return {
    roots: (tenant, wanted, after, limit) =>
      passage.read('restingThreads.roots', tenant, () =>
        rowsOf(rows, tenant)
          .filter((row) => row.parent === null && isWanted(row, wanted) && (after === null || byRest(after, row) < 0))
          .toSorted(byRest)
          .slice(0, limit)
          .map(({ thread, updatedAt }) => ({ thread, updatedAt })),
      ),
    family: (tenant, family, after, limit) =>
      passage.read('restingThreads.family', `${tenant}:${family}`, () =>
        rowsOf(rows, tenant)
          .filter((row) => row.family === family && (after === null || row.thread > after))
          .toSorted(byThread)
          .slice(0, limit)
          .map(({ thread, status, updatedAt, leavingAt = null }) => ({ thread, status, updatedAt, leavingAt })),
      ),
    areForkedFrom: (tenant, threads, family) =>
      passage.read('restingThreads.areForkedFrom', `${tenant}:${family}`, () =>
        rowsOf(rows, tenant).some(
          (row) => row.family !== family && row.forkedFrom !== undefined && threads.includes(row.forkedFrom),
        ),
      ),
    forksOf: (tenant, threads) =>
      passage.read('restingThreads.forksOf', tenant, () =>
        rowsOf(rows, tenant)
          .filter(({ forkedFrom }) => forkedFrom !== undefined && threads.includes(forkedFrom))
          .map(({ thread }) => thread),
      ),
    leave: (tenant, threads, at) =>
      passage.write('restingThreads.leave', `${tenant}:${threads.join(',')}`, () =>
        change(tenant, threads, ({ leavingAt: _, ...row }) => (at === null ? row : { ...row, leavingAt: at })),
      ),
    unplaced: (tenant) => passage.read('restingThreads.unplaced', tenant, () => []),
    place: (tenant, thread, forkedFrom) =>
      passage.write('restingThreads.place', `${tenant}:${thread}`, () =>
        change(tenant, [thread], ({ forkedFrom: _, ...row }) => (forkedFrom === null ? row : { ...row, forkedFrom })),
      ),
  };
}

const byRest = (one: RestingRoot, other: RestingRoot): number =>
  one.updatedAt - other.updatedAt || (one.thread < other.thread ? -1 : one.thread > other.thread ? 1 : 0);
