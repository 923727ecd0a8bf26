// The contract of `HeldThreads`, for every adapter.
import { describe, expect, it } from 'vitest';
import type { HeldThread, HeldThreads } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function heldThreadsContract(name: string, make: () => Promise<UnderTest<HeldThreads>>): void {
  describe(`HeldThreads contract: ${name}`, () => {
    const opened = openedOnce(make);
    const freshTenant = (): string => freshKey().thread;
    const all = (held: HeldThreads, tenant: string): Promise<readonly HeldThread[]> => held.list(tenant, null, 10);

    it('(L2) removes the mark that was read, and no newer one', async () => {
      const held = await opened.get();
      const key = freshKey(freshTenant());
      await held.hold(key);
      const [first] = await all(held, key.tenant);
      expect(first).toMatchObject({ tenant: key.tenant, thread: key.thread });
      await held.hold(key);
      const [second] = await all(held, key.tenant);
      if (first === undefined || second === undefined) throw new Error('not marked');
      await held.remove(first);
      expect(await all(held, key.tenant)).toEqual([second]);
      await held.remove(second);
      await held.remove(second);
      expect(await all(held, key.tenant)).toEqual([]);
      await held.hold(key);
      const [third] = await all(held, key.tenant);
      await held.remove(second);
      expect(await all(held, key.tenant)).toEqual([third]);
    });

    it('lists the threads of one tenant in order, and the tenants that have some', async () => {
      const held = await opened.get();
      const tenant = freshTenant();
      const other = freshKey(freshTenant());
      for (const thread of ['c', 'a', 'b']) await held.hold({ tenant, thread });
      await held.hold(other);
      const names = async (after: string | null, limit: number): Promise<readonly string[]> =>
        (await held.list(tenant, after, limit)).map(({ thread }) => thread);
      expect(await names(null, 2)).toEqual(['a', 'b']);
      expect(await names('b', 2)).toEqual(['c']);
      expect(await held.tenants()).toEqual(expect.arrayContaining([tenant, other.tenant]));
      for (const each of await all(held, tenant)) await held.remove(each);
      expect(await held.tenants()).not.toContain(tenant);
    });

    it('(L1) outlives its process', async () => {
      const key = freshKey(freshTenant());
      await (await opened.get()).hold(key);
      const again = await opened.reopened();
      if (again !== null) expect((await all(again, key.tenant)).map(({ thread }) => thread)).toEqual([key.thread]);
    });
  });
}
