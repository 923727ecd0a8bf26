// The contract of `HeldThreads`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { HeldBy, HeldThread, HeldThreads, TenantId } from '../index.ts';
import { freshKey, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function heldThreadsContract(name: string, make: () => Promise<UnderTest<HeldThreads>>): void {
  describe(`HeldThreads contract: ${name}`, () => {
    const opened = openedOnce(make);
    const all = (held: HeldThreads, tenant: TenantId, by: HeldBy = 'tenant'): Promise<readonly HeldThread[]> =>
      held.list({ tenant, by }, null, 10);

    it('(L2) removes the mark that was read, and no newer one', async () => {
      const held = await opened.get();
      const key = freshKey(freshTenant());
      await held.hold(key, 'tenant');
      const [first] = await all(held, key.tenant);
      expect(first).toMatchObject({ tenant: key.tenant, thread: key.thread });
      await held.hold(key, 'tenant');
      const [second] = await all(held, key.tenant);
      if (first === undefined || second === undefined) throw new Error('not marked');
      await held.remove(first);
      expect(await all(held, key.tenant)).toEqual([second]);
      await held.remove(second);
      await held.remove(second);
      expect(await all(held, key.tenant)).toEqual([]);
      await held.hold(key, 'tenant');
      const [third] = await all(held, key.tenant);
      await held.remove(second);
      expect(await all(held, key.tenant)).toEqual([third]);
    });

    it('lists the threads of one group in order, and the groups that have some', async () => {
      const held = await opened.get();
      const tenant = freshTenant();
      const other = freshKey(freshTenant());
      for (const thread of ['c', 'a', 'b']) await held.hold({ tenant, thread }, 'agent:writer');
      await held.hold({ tenant, thread: 'd' }, 'tool_server:writer');
      await held.hold(other, 'tenant');
      const names = async (after: string | null, limit: number): Promise<readonly string[]> =>
        (await held.list({ tenant, by: 'agent:writer' }, after, limit)).map(({ thread }) => thread);
      expect(await names(null, 2)).toEqual(['a', 'b']);
      expect(await names('b', 2)).toEqual(['c']);
      expect(await held.groups()).toEqual(
        expect.arrayContaining([
          { tenant, by: 'agent:writer' },
          { tenant, by: 'tool_server:writer' },
          { tenant: other.tenant, by: 'tenant' },
        ]),
      );
      for (const each of await all(held, tenant, 'agent:writer')) await held.remove(each);
      expect((await held.groups()).filter((group) => group.tenant === tenant)).toEqual([
        { tenant, by: 'tool_server:writer' },
      ]);
    });

    it('(L3) keeps a mark for each reason, and removes the one that was read', async () => {
      const held = await opened.get();
      const key = freshKey(freshTenant());
      for (const by of ['tenant', 'agent:a', 'tool_server:a', 'tool_server:b:c'] as const) await held.hold(key, by);
      const [mark] = await all(held, key.tenant, 'tool_server:a');
      if (mark === undefined) throw new Error('not marked');
      await held.remove(mark);
      const left = (await held.groups()).filter(({ tenant }) => tenant === key.tenant).map(({ by }) => by);
      expect(left.toSorted()).toEqual(['agent:a', 'tenant', 'tool_server:b:c']);
    });

    it('(L1) outlives its process', async () => {
      const key = freshKey(freshTenant());
      await (await opened.get()).hold(key, 'tool_server:a');
      const again = await opened.reopened();
      if (again === null) return;
      expect((await all(again, key.tenant, 'tool_server:a')).map(({ thread }) => thread)).toEqual([key.thread]);
    });
  });
}
