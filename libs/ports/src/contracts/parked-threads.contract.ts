// The contract of `ParkedThreads` (P1..P4), for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type ParkedThreads, type ThreadKey } from '../index.ts';
import { freshKey, messageOf } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const zenith = tenantId('zenith');
const acme = tenantId('acme');

export function parkedThreadsContract(name: string, make: () => Promise<UnderTest<ParkedThreads>>): void {
  describe(`ParkedThreads contract: ${name}`, () => {
    const opened = openedOnce(make);
    const ids = async (parked: ParkedThreads, key: ThreadKey): Promise<readonly string[]> =>
      (await parked.inputs(key)).map(({ input }) => input.id);

    it('P1: a mark is found by whoever looks, and only on its thread', async () => {
      const parked = await opened.get();
      const key = freshKey();
      expect(await parked.mark(key)).toBeNull();
      await parked.park(key, 'it threw', 5);
      expect(await parked.mark(key)).toBe('parked');
      expect(await parked.get(key)).toEqual({ ...key, mark: 'parked', reason: 'it threw', parkedAt: 5 });
      expect(await parked.mark({ ...key, tenant: zenith })).toBeNull();
      expect(await parked.mark(freshKey())).toBeNull();
    });

    it('P2: inputs keep their order, each once, with their trace', async () => {
      const parked = await opened.get();
      const key = freshKey();
      for (const id of ['b', 'a', 'c', 'a', 'b']) await parked.add(key, messageOf(id), id === 'a' ? 'trace' : null, 0);
      expect(await ids(parked, key)).toEqual(['b', 'a', 'c']);
      expect(await parked.inputs(key)).toMatchObject([
        { input: messageOf('b'), trace: null, droppedAt: null },
        { input: messageOf('a'), trace: 'trace' },
        { input: messageOf('c') },
      ]);
      expect(await parked.inputs(freshKey())).toEqual([]);
    });

    it('P2: marks and inputs outlive the process', async (context) => {
      const parked = await opened.get();
      const key = freshKey();
      await parked.park(key, 'why', 1);
      await parked.add(key, messageOf('x'), null, 0);
      const again = await opened.reopened();
      if (!again) return context.skip('these do not outlive their process');
      expect(await again.mark(key)).toBe('parked');
      expect(await ids(again, key)).toEqual(['x']);
    });

    it('P3: marking again keeps the first reason; a replay is a mark, and parking ends it', async () => {
      const parked = await opened.get();
      const key = freshKey();
      expect(await parked.replay(key)).toBe(false);
      await parked.park(key, 'first', 1);
      await parked.park(key, 'second', 2);
      expect(await parked.get(key)).toMatchObject({ reason: 'first', parkedAt: 1 });
      expect(await parked.replay(key)).toBe(true);
      expect(await parked.mark(key)).toBe('replay');
      await parked.park(key, 'again', 3);
      expect(await parked.mark(key)).toBe('parked');
    });

    it('P4: a dropped input stays to be seen, a removed one is gone, and so is the mark in the end', async () => {
      const parked = await opened.get();
      const key = freshKey();
      await parked.park(key, 'why', 1);
      for (const id of ['a', 'b']) await parked.add(key, messageOf(id), null, 0);
      expect(await parked.drop(key, 'a', 9)).toBe(true);
      expect(await parked.drop(key, 'nobody', 9)).toBe(false);
      await parked.remove(key, 'b');
      await parked.replay(key);
      await parked.unpark(key);
      expect(await parked.mark(key)).toBeNull();
      expect(await parked.inputs(key)).toMatchObject([{ input: messageOf('a'), droppedAt: 9 }]);
    });

    it('P5: a mark goes only while it is `replay` and nothing waits', async () => {
      const parked = await opened.get();
      const key = freshKey();
      expect(await parked.unpark(key)).toBe(false);
      await parked.park(key, 'why', 1);
      expect(await parked.unpark(key)).toBe(false);
      await parked.add(key, messageOf('a'), null, 2);
      await parked.replay(key);
      expect(await parked.unpark(key)).toBe(false);
      expect(await parked.mark(key)).toBe('replay');
      await parked.remove(key, 'a');
      expect(await parked.unpark(key)).toBe(true);
      expect(await parked.mark(key)).toBeNull();
    });

    it('P5: who puts an input aside marks its thread, if it is not', async () => {
      const parked = await opened.get();
      const key = freshKey();
      await parked.add(key, messageOf('a'), null, 7);
      expect(await parked.get(key)).toMatchObject({ mark: 'parked', parkedAt: 7 });
      await parked.replay(key);
      await parked.add(key, messageOf('b'), null, 8);
      expect(await parked.get(key)).toMatchObject({ mark: 'replay', parkedAt: 7 });
    });

    it('P5: nothing waits without a mark, however a mark that goes and an input that comes meet', async () => {
      const parked = await opened.get();
      for (let round = 0; round < 20; round += 1) {
        const key = freshKey();
        await parked.park(key, 'why', 1);
        await parked.replay(key);
        await Promise.all([parked.unpark(key), parked.add(key, messageOf('a'), null, 2), parked.unpark(key)]);
        expect(await parked.mark(key)).not.toBeNull();
      }
    });

    it('finds those that are to be replayed, whosever they are', async () => {
      const parked = await opened.get();
      const keys = [freshKey(acme), freshKey(zenith), freshKey(acme)] as const;
      for (const key of keys) await parked.park(key, 'why', 1);
      for (const key of keys.slice(0, 2)) await parked.replay(key);
      const found = (await parked.replays()).map(({ tenant, thread }) => ({ tenant, thread }));
      expect(found).toEqual(expect.arrayContaining([keys[0], keys[1]]));
      expect(found).not.toContainEqual(keys[2]);
      await parked.unpark(keys[0]);
      expect(await parked.replays()).not.toContainEqual(keys[0]);
    });

    it('finds those that are parked for one reason, whosever they are', async () => {
      const parked = await opened.get();
      const keys = [freshKey(acme), freshKey(zenith), freshKey(acme), freshKey(acme)] as const;
      const why = `why ${keys[0].thread}`;
      for (const key of keys.slice(0, 3)) await parked.park(key, why, 1);
      await parked.park(keys[3], `${why} not`, 1);
      await parked.replay(keys[2]);
      const found = [...(await parked.parkedFor(why))].map(({ tenant, thread }) => ({ tenant, thread }));
      expect(found).toHaveLength(2);
      expect(found).toEqual(expect.arrayContaining([keys[0], keys[1]]));
    });

    it('lists what is parked of one tenant, oldest first, page by page', async () => {
      const parked = await opened.get();
      const tenant = tenantId(`tenant-${Math.random().toString(36).slice(2)}`);
      const keys = Array.from({ length: 5 }, () => freshKey(tenant));
      for (const [index, key] of keys.entries()) await parked.park(key, 'why', 100 - index);
      const expected = keys.toReversed().map(({ thread }) => thread);
      const first = await parked.list(tenant, { limit: 3, cursor: null });
      const second = await parked.list(tenant, { limit: 3, cursor: first.nextCursor });
      expect([...first.data, ...second.data].map(({ thread }) => thread)).toEqual(expected);
      expect(second.nextCursor).toBeNull();
      expect((await parked.list(tenantId('nobody'), { limit: 3, cursor: null })).data).toEqual([]);
    });
  });
}
