// What every store of families' keys guarantees. F1, F2, F3: ports/stores/family-keys.ts
import { describe, expect, it } from 'vitest';
import type { FamilyKeys } from '../stores/family-keys.ts';
import { freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

export function familyKeysContract(name: string, make: () => Promise<UnderTest<FamilyKeys>>): void {
  describe(`FamilyKeys contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('F1: of five that are inserted at once one stays, and every caller gets it', async () => {
      const keys = await opened.get();
      const tenant = freshTenant();
      const made = await Promise.all(
        [1, 2, 3, 4, 5].map((nth) => keys.insert({ tenant, family: 'thr_a', sealed: `key ${nth}` })),
      );
      const [first] = made;
      expect(new Set(made.map(({ sealed }) => sealed)).size).toBe(1);
      expect(await keys.get(tenant, ['thr_a'])).toEqual([first]);
      expect(await keys.insert({ tenant, family: 'thr_a', sealed: 'late' })).toEqual(first);
    });

    it('F1: keys are found by tenant and family, and outlive the process', async () => {
      const keys = await opened.get();
      const [ours, theirs] = [freshTenant(), freshTenant()];
      for (const family of ['thr_a', 'thr_b', 'thr_c']) await keys.insert({ tenant: ours, family, sealed: family });
      await keys.insert({ tenant: theirs, family: 'thr_a', sealed: 'theirs' });
      const after = (await opened.reopened()) ?? keys;
      const found = await after.get(ours, ['thr_c', 'thr_a', 'thr_none']);
      expect(found.toSorted((one, other) => (one.family < other.family ? -1 : 1))).toEqual([
        { tenant: ours, family: 'thr_a', sealed: 'thr_a' },
        { tenant: ours, family: 'thr_c', sealed: 'thr_c' },
      ]);
      expect(await after.get(ours, [])).toEqual([]);
      const pages = [await after.page(ours, null, 2), await after.page(ours, 'thr_b', 2)];
      expect(pages.map((page) => page.map(({ family }) => family))).toEqual([['thr_a', 'thr_b'], ['thr_c']]);
    });

    it('F2: an erased family has no key any more, and gets none', async () => {
      const keys = await opened.get();
      const tenant = freshTenant();
      await keys.insert({ tenant, family: 'thr_a', sealed: 'secret' });
      await keys.insert({ tenant, family: 'thr_c', sealed: 'kept' });
      await keys.erase(tenant, ['thr_a', 'thr_b']);
      await keys.erase(tenant, ['thr_a']);
      for (const family of ['thr_a', 'thr_b']) {
        const erased = { tenant, family, sealed: null };
        expect(await keys.get(tenant, [family])).toEqual([erased]);
        expect(await keys.insert({ tenant, family, sealed: 'again' })).toEqual(erased);
        expect(await keys.replace({ ...erased, sealed: 'again' }, { ...erased, sealed: 'secret' })).toBe(false);
        expect(await keys.get(tenant, [family])).toEqual([erased]);
      }
      expect(await keys.get(tenant, ['thr_c'])).toEqual([{ tenant, family: 'thr_c', sealed: 'kept' }]);
    });

    it('F3: of five that have read the same key, one replaces it', async () => {
      const keys = await opened.get();
      const tenant = freshTenant();
      const seen = await keys.insert({ tenant, family: 'thr_a', sealed: 'old' });
      const done = await Promise.all(
        [1, 2, 3, 4, 5].map((nth) => keys.replace({ ...seen, sealed: `new ${nth}` }, seen)),
      );
      expect(done.filter((isDone) => isDone)).toHaveLength(1);
      expect(await keys.get(tenant, ['thr_a'])).toEqual([{ ...seen, sealed: `new ${done.indexOf(true) + 1}` }]);
    });
  });
}
