// Which scope each operation needs: the rule of the API, checked over the whole table. An operation that the rule does
// not fit is named here, with the reason.
import { expect, it } from 'vitest';
import type { Operation } from './operation.ts';
import { allOperations } from './operations.ts';

/** Read by administrators only. */
const guardedReads = /^\/v1\/(api-keys|secrets|parked|audit)(\/|$)/;
const threadRoutes = /^\/v1\/(threads|ui)(\/|:|$)/;
const answering = /^\/v1\/(choices(\/|:)|threads\/\{id\}\/choices\/)/;

const exceptions: Readonly<Record<string, string>> = {
  getBackup: 'tenant:admin: a backup is of the whole installation',
  migrateThread: 'tenant:admin: the thread’s calls go to other addresses from then on',
  createSessionLink: 'read: the session can do what its key can, and no more',
};

function wanted({ id, method, path }: Operation): string {
  const exception = exceptions[id]?.split(': ')[0];
  if (exception !== undefined) return exception;
  if (path.startsWith('/v1/tenants')) return 'platform';
  if (method === 'GET') return guardedReads.test(path) ? 'tenant:admin' : 'read';
  if (answering.test(path)) return 'approvals:write';
  return threadRoutes.test(path) ? 'threads:write' : 'tenant:admin';
}

const needed = ({ access }: Operation): string => (typeof access === 'string' ? access : access.scope);

it('every operation needs the scope that the rule says', () => {
  const guarded = allOperations.filter(({ access }) => access !== 'open');
  expect(guarded.length).toBeGreaterThan(60);
  const differing = guarded.filter((each) => needed(each) !== wanted(each));
  expect(differing.map((each) => `${each.id} needs ${needed(each)}, not ${wanted(each)}`)).toEqual([]);
});

it('only signing in and out needs no key', () => {
  const open = allOperations.filter(({ access }) => access === 'open').map(({ id }) => id);
  expect(open.toSorted()).toEqual(['getSession', 'signIn', 'signOut']);
});

it('has no exception that is none', () => {
  const ids = new Set(allOperations.map(({ id }) => id));
  expect(Object.keys(exceptions).filter((id) => !ids.has(id))).toEqual([]);
});
