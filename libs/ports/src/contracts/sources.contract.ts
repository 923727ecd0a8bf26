// The contract of `Sources` and `Deliveries`, for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type Deliveries, type Page, type Source, type Sources } from '../index.ts';
import { freshKey, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

const sourceOf = (tenant: TenantId, name: string, changes: Partial<Source> = {}): Source => ({
  ...{ tenant, name, id: `src_${tenant}_${name}`, kind: 'github', secret: 'hook', agent: 'support' },
  ...{ key: '/issue/id', message: 'Issue {{/issue/title}} 🐢', createdAt: 7 },
  ...{ tokenSha256: `sha of ${tenant} ${name}`, sealedToken: 'sealed' },
  ...changes,
});

export function sourcesContract(name: string, make: () => Promise<UnderTest<Sources>>): void {
  describe(`Sources contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('keeps a source whole, and finds it by name, id and token', async () => {
      const sources = await opened.get();
      const source = sourceOf(freshTenant(), 'issues');
      expect(await sources.insert(source)).toBe(true);
      expect(await sources.get(source.tenant, source.name)).toEqual(source);
      expect(await sources.get(source.tenant, source.id)).toEqual(source);
      expect(await sources.byToken(source.tokenSha256)).toEqual(source);
      expect(await sources.get(freshTenant(), source.name)).toBeNull();
      expect(await sources.byToken(source.id)).toBeNull();
      const again = await opened.reopened();
      if (again !== null) expect(await again.byToken(source.tokenSha256)).toEqual(source);
    });

    it('(S1) makes one of several at once, and gives a token once', async () => {
      const sources = await opened.get();
      const tenant = freshTenant();
      const wanted = [1, 2, 3, 4].map((nth) =>
        sourceOf(tenant, 'one', { id: `src_${tenant}_${nth}`, tokenSha256: `${tenant} ${nth}` }),
      );
      const made = await Promise.all(wanted.map((source) => sources.insert(source)));
      expect(made.filter(Boolean)).toHaveLength(1);
      const first = await sources.get(tenant, 'one');
      expect(first).toEqual(wanted[made.indexOf(true)]);
      const { tokenSha256 = '' } = first ?? {};
      expect(await sources.insert(sourceOf(tenant, 'two', { tokenSha256 }))).toBe(false);
      expect(await sources.get(tenant, 'two')).toBeNull();
    });

    it('removes one, whose name may be given again', async () => {
      const sources = await opened.get();
      const source = sourceOf(freshTenant(), 'gone');
      await sources.insert(source);
      expect(await sources.remove(freshTenant(), 'gone')).toBe(false);
      expect(await sources.remove(source.tenant, 'gone')).toBe(true);
      expect(await sources.remove(source.tenant, 'gone')).toBe(false);
      expect(await sources.byToken(source.tokenSha256)).toBeNull();
      expect(await sources.insert({ ...source, id: `${source.id}_2` })).toBe(true);
    });

    it('replaces one only where it is what was read', async () => {
      const sources = await opened.get();
      const source = sourceOf(freshTenant(), 'sealed');
      const next = { ...source, sealedToken: 'sealed again' };
      expect(await sources.replace(next, source)).toBe(false);
      await sources.insert(source);
      expect(await sources.replace(next, next)).toBe(false);
      const read = (await sources.get(source.tenant, source.name)) ?? source;
      const made = await Promise.all([1, 2, 3].map(() => sources.replace(next, read)));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await sources.get(source.tenant, source.name)).toEqual(next);
      expect(await sources.byToken(source.tokenSha256)).toEqual(next);
    });

    it('(S2) lists by name, page by page', async () => {
      const sources = await opened.get();
      const tenant = freshTenant();
      for (const each of ['c', 'a', 'b']) await sources.insert(sourceOf(tenant, each));
      await sources.insert(sourceOf(freshTenant(), 'of-another'));
      const names: string[] = [];
      for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const page: Page<Source> = await sources.list(tenant, { limit: 2, cursor });
        names.push(...page.data.map((source) => source.name));
        cursor = page.nextCursor;
      }
      expect(names).toEqual(['a', 'b', 'c']);
    });
  });
}

export function deliveriesContract(name: string, make: () => Promise<UnderTest<Deliveries>>): void {
  describe(`Deliveries contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('(S3) keeps the first of many claims', async () => {
      const deliveries = await opened.get();
      const { tenant, thread } = freshKey(freshTenant());
      expect(await deliveries.find(tenant, 'd-1')).toBeNull();
      const now = Date.now(); // a store may drop old ones
      const claims = Array.from({ length: 20 }, (_, nth) => ({
        ...{ tenant, id: 'd-1', thread: `${thread}_${nth}`, at: now + nth },
      }));
      const outcomes = await Promise.all(claims.map((claim) => deliveries.claim(claim)));
      expect(outcomes.filter(({ isFirst }) => isFirst)).toHaveLength(1);
      const first = claims[outcomes.findIndex(({ isFirst }) => isFirst)];
      expect(outcomes.map(({ delivery }) => delivery)).toEqual(claims.map(() => first));
      expect(await deliveries.find(tenant, 'd-1')).toEqual(first);
      expect((await deliveries.claim({ tenant, id: 'd-2', thread, at: now })).isFirst).toBe(true);
      expect((await deliveries.claim({ tenant: tenantId(`${tenant}-2`), id: 'd-1', thread, at: now })).isFirst).toBe(
        true,
      );
      const again = await opened.reopened();
      if (again !== null) expect(await again.find(tenant, 'd-1')).toEqual(first);
    });
  });
}
