// The contract of `RestingThreads`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { RestingRoot, RootsWanted, Stores, ThreadKey, ThreadRow, TenantId } from '../index.ts';
import { freshKey, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

type RestingThreadsUnderTest = Pick<Stores, 'directory' | 'restingThreads'>;

const day = 86_400_000;
const now = 1_700_000_000_000;

export function restingThreadsContract(name: string, make: () => Promise<UnderTest<RestingThreadsUnderTest>>): void {
  describe(`RestingThreads contract: ${name}`, () => {
    const opened = openedOnce(make);

    async function insert(
      tenant: TenantId,
      row: Partial<ThreadRow> & { readonly updatedAt: number },
    ): Promise<ThreadKey> {
      const { directory } = await opened.get();
      const key = freshKey(tenant);
      await directory.insert({
        ...{ ...key, status: 'idle', agent: 'support', agentVersion: 1, parent: null, family: key.thread },
        ...{ userId: null, externalId: null, title: null, metadata: {}, createdAt: now - 90 * day, position: 1 },
        opening: null,
        ...row,
      });
      return key;
    }

    async function rootsOf(tenant: TenantId, wanted: RootsWanted, limit = 2): Promise<readonly string[]> {
      const { restingThreads } = await opened.get();
      const found: RestingRoot[] = [];
      for (;;) {
        const page = await restingThreads.roots(tenant, wanted, found.at(-1) ?? null, limit);
        expect(page.length).toBeLessThanOrEqual(limit);
        if (page.length === 0) return found.map(({ thread }) => thread);
        found.push(...page);
      }
    }

    it('(Q1) lists roots that are idle or closed and old, the longest at rest first', async () => {
      const tenant = freshTenant();
      const rows = [
        await insert(tenant, { updatedAt: now - 40 * day }),
        await insert(tenant, { updatedAt: now - 60 * day, status: 'closed' }),
        await insert(tenant, { updatedAt: now - 40 * day }),
        await insert(tenant, { updatedAt: now - 50 * day }),
      ];
      const [one, oldest, other, middle] = rows.map(({ thread }) => thread);
      for (const status of ['opening', 'parked', 'thinking', 'waiting'] as const)
        await insert(tenant, { updatedAt: now - 99 * day, status });
      await insert(tenant, { updatedAt: now - 99 * day, parent: one ?? '', family: one ?? '' });
      await insert(tenant, { updatedAt: now - 30 * day });
      await insert(freshTenant(), { updatedAt: now - 99 * day });
      const expected = [oldest, middle, ...[one ?? '', other ?? ''].toSorted()];
      expect(await rootsOf(tenant, { before: now - 30 * day })).toEqual(expected);
      expect(await rootsOf(tenant, { before: now - 70 * day })).toEqual([]);
    });

    it('leaves out a thread with a subscription', async () => {
      const { directory } = await opened.get();
      const tenant = freshTenant();
      const key = await insert(tenant, { updatedAt: 0 });
      const row = { ...key, status: 'idle', title: null, updatedAt: now - 40 * day, position: 2 } as const;
      await directory.project([{ ...row, waits: { oldest: {}, subscriptions: 1 } }]);
      expect(await rootsOf(tenant, { before: now })).toEqual([]);
      await directory.project([{ ...row, position: 3, waits: { oldest: {}, subscriptions: 0 } }]);
      expect(await rootsOf(tenant, { before: now })).toEqual([key.thread]);
    });

    it('(Q1) lists a family whole, page by page', async () => {
      const { restingThreads } = await opened.get();
      const tenant = freshTenant();
      const root = await insert(tenant, { updatedAt: now });
      const children = await Promise.all(
        [1, 2, 3].map((nth) =>
          insert(tenant, { updatedAt: now - nth, parent: root.thread, family: root.thread, status: 'closed' }),
        ),
      );
      const all = [root, ...children].map(({ thread }) => thread).toSorted();
      const found: string[] = [];
      for (;;) {
        const page = await restingThreads.family(tenant, root.thread, found.at(-1) ?? null, 3);
        if (page.length === 0) break;
        found.push(...page.map(({ thread }) => thread));
        expect(page.every(({ leavingAt }) => leavingAt === null)).toBe(true);
      }
      expect(found).toEqual(all);
      expect(await restingThreads.family(freshTenant(), root.thread, null, 3)).toEqual([]);
    });

    it('(Q3) marks threads, finds them by their marks, and takes these back', async () => {
      const { directory, restingThreads } = await opened.get();
      const tenant = freshTenant();
      const [young, other] = [await insert(tenant, { updatedAt: now }), await insert(tenant, { updatedAt: 0 })];
      await restingThreads.leave(tenant, [young.thread, 'thr_never'], now + 5);
      expect(await directory.get(young)).toMatchObject({ leavingAt: now + 5 });
      expect(await rootsOf(tenant, 'leaving')).toEqual([young.thread]);
      const [row] = await restingThreads.family(tenant, young.thread, null, 3);
      expect(row).toEqual({ thread: young.thread, status: 'idle', updatedAt: now, leavingAt: now + 5 });
      expect(await rootsOf(tenant, { before: now - 1 })).toEqual([other.thread]);
      await restingThreads.leave(tenant, [young.thread], null);
      expect((await directory.get(young))?.leavingAt).toBeUndefined();
      expect(await rootsOf(tenant, 'leaving')).toEqual([]);
    });

    it('(Q2) knows of which threads another family has the history', async () => {
      const { directory, restingThreads } = await opened.get();
      const tenant = freshTenant();
      const [source, same] = [await insert(tenant, { updatedAt: 0 }), await insert(tenant, { updatedAt: 0 })];
      const fork = await insert(tenant, { updatedAt: now, forkedFrom: source.thread });
      expect(await directory.get(fork)).toMatchObject({ forkedFrom: source.thread });
      const isForked = (threads: readonly string[], family: string) =>
        restingThreads.areForkedFrom(tenant, threads, family);
      expect(await isForked(['thr_never', source.thread], source.thread)).toBe(true);
      expect(await isForked([same.thread, fork.thread], same.thread)).toBe(false);
      expect(await isForked([source.thread], fork.thread)).toBe(false); // the fork is of the family itself
      expect(await restingThreads.forksOf(tenant, [same.thread, source.thread])).toEqual([fork.thread]);
      expect(await restingThreads.forksOf(tenant, [same.thread])).toEqual([]);
      expect(await restingThreads.unplaced(tenant, 10)).toEqual([]);
      await restingThreads.place(tenant, same.thread, source.thread);
      expect(await isForked([source.thread], fork.thread)).toBe(true);
      await restingThreads.place(tenant, same.thread, null);
      expect(await isForked([source.thread], fork.thread)).toBe(false);
    });
  });
}
