// What every store of erasures guarantees. E1, E2, E3: ports/stores/erasures.ts
import type { TenantId } from '../index.ts';
import { describe, expect, it } from 'vitest';
import type { ErasureRecord, Erasures } from '../stores/erasures.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function erasuresContract(name: string, make: () => Promise<UnderTest<Erasures>>): void {
  describe(`Erasures contract: ${name}`, () => {
    const opened = openedOnce(make);
    const of = (tenant: TenantId, id: string, requestedAt: number): ErasureRecord => ({
      ...{ tenant, id, requestedAt, scope: 'family', subject: `of ${id}`, sealedUser: null, keysErasedAt: null },
      ...{ families: ['thr_1'], threads: 0, wasClear: false, certificate: null },
    });

    it('E1: of five inserts of one id the first stays, and the others get it', async () => {
      const erasures = await opened.get();
      const tenant = freshTenant();
      const made = await Promise.all([1, 2, 3, 4, 5].map((at) => erasures.insert(of(tenant, 'ers_1', at))));
      expect(new Set(made.map(({ requestedAt }) => requestedAt)).size).toBe(1);
      expect(await erasures.get(tenant, 'ers_1')).toEqual(made[0]);
      expect(await erasures.get(freshTenant(), 'ers_1')).toBeNull();
    });

    it('E2: of five that have read the same, one replaces it', async () => {
      const erasures = await opened.get();
      const seen = await erasures.insert(of(freshTenant(), 'ers_1', 1));
      const changed = [1, 2, 3, 4, 5].map((threads) => ({ ...seen, threads }));
      const done = await Promise.all(changed.map((each) => erasures.replace(each, seen)));
      expect(done.filter((isDone) => isDone)).toHaveLength(1);
      expect(await erasures.get(seen.tenant, 'ers_1')).toEqual(changed[done.indexOf(true)]);
    });

    it('E3: pages have the newest first, of one tenant; those that are not done are found for all', async () => {
      const erasures = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      await erasures.insert(of(theirs, 'ers_0', 5));
      for (const [id, at] of [
        ['ers_a', 1],
        ['ers_b', 2],
        ['ers_c', 2],
        ['ers_d', 3],
      ] as const)
        await erasures.insert(of(ours, id, at));
      const first = await erasures.list(ours, { limit: 3, cursor: null });
      expect(first.data.map(({ id }) => id)[0]).toBe('ers_d');
      const rest = await erasures.list(ours, { limit: 3, cursor: first.nextCursor });
      expect([...first.data, ...rest.data].map(({ id }) => id).toSorted()).toEqual([
        'ers_a',
        'ers_b',
        'ers_c',
        'ers_d',
      ]);
      expect([...first.data, ...rest.data].at(-1)?.id).toBe('ers_a');
      expect(rest.nextCursor).toBeNull();
      const seen = of(ours, 'ers_a', 1);
      expect(await erasures.replace({ ...seen, certificate: '{}' }, seen)).toBe(true);
      const running = (await erasures.running(1_000)).filter(({ tenant }) => [ours, theirs].includes(tenant));
      expect(running.map(({ id }) => id).toSorted()).toEqual(['ers_0', 'ers_b', 'ers_c', 'ers_d']);
    });
  });
}
