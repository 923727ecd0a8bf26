// The contract of `TenantTallies` (T1..T3), for every adapter.
import { describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type TenantTallies, type TenantTally, type TenantTallyRow } from '../index.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

let tenants = 0;
const freshTenant = (): TenantId => tenantId(`t-${(tenants += 1)}-${Math.random().toString(36).slice(2, 10)}`);

const now = 1_800_000_000_000;

const rowOf = (tenant: TenantId, more: Partial<TenantTallyRow> = {}): TenantTallyRow => ({
  ...{ tenant, name: 'tokens', reporter: 'one', amount: 1, until: null },
  ...more,
});

const inOrder = (sums: readonly TenantTally[]): readonly string[] =>
  sums.map(({ tenant, name, amount }) => `${tenant} ${name} ${amount}`).toSorted();

export function tenantTalliesContract(name: string, make: () => Promise<UnderTest<TenantTallies>>): void {
  describe(`TenantTallies contract: ${name}`, () => {
    const opened = openedOnce(make);

    it('T1: a row that is put again replaces itself, and reporters add up', async () => {
      const tallies = await opened.get();
      const tenant = freshTenant();
      expect(await tallies.sums([tenant], 'me', now)).toEqual([]);
      await tallies.put([rowOf(tenant), rowOf(tenant, { name: 'bytes', amount: 2 ** 40 })]);
      await tallies.put([rowOf(tenant, { amount: 5 }), rowOf(tenant, { reporter: 'two', amount: 7 })]);
      await tallies.put([]);
      expect(inOrder(await tallies.sums([tenant], 'me', now))).toEqual([
        `${tenant} bytes ${2 ** 40}`,
        `${tenant} tokens 12`,
      ]);
    });

    it('T2: of these tenants only, and without what the asking reporter has counted', async () => {
      const tallies = await opened.get();
      const [one, two, other] = [freshTenant(), freshTenant(), freshTenant()];
      await tallies.put([
        rowOf(one),
        rowOf(one, { reporter: 'me', amount: 100 }),
        rowOf(two, { amount: 3 }),
        rowOf(other, { amount: 9 }),
      ]);
      expect(await tallies.sums([], 'me', now)).toEqual([]);
      expect(inOrder(await tallies.sums([one, two], 'me', now))).toEqual(
        inOrder([
          { tenant: one, name: 'tokens', amount: 1 },
          { tenant: two, name: 'tokens', amount: 3 },
        ]),
      );
    });

    it('T3: a row counts before its end', async () => {
      const tallies = await opened.get();
      const tenant = freshTenant();
      const until = Date.now() + 86_400_000;
      await tallies.put([rowOf(tenant, { amount: 4, until }), rowOf(tenant, { reporter: 'two', amount: 1 })]);
      expect(await tallies.sums([tenant], 'me', until - 1)).toMatchObject([{ amount: 5 }]);
      expect(await tallies.sums([tenant], 'me', until)).toMatchObject([{ amount: 1 }]);
      await tallies.put([rowOf(tenant, { amount: 4, until: until + 10 })]);
      expect(await tallies.sums([tenant], 'me', until)).toMatchObject([{ amount: 5 }]);
    });
  });
}
