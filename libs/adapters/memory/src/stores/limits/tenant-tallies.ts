// What tenants have used, in memory. Contract: ports/stores/tenant-tallies.ts.
import type { TenantTallies, TenantTally, TenantTallyRow } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';

export type TenantTallyStore = Map<string, TenantTallyRow>;

export const createTenantTallies = (rows: TenantTallyStore, passage: Passage): TenantTallies => ({
  put: (some) =>
    passage.write('tenantTallies.put', some.map(({ tenant }) => tenant).join(','), () => {
      for (const row of some) rows.set(JSON.stringify([row.tenant, row.name, row.reporter]), row);
    }),
  sums: (tenants, butOf, now) =>
    passage.read('tenantTallies.sums', tenants.join(','), () => {
      const sums = new Map<string, TenantTally>();
      for (const { tenant, name, reporter, amount, until } of rows.values()) {
        if (!tenants.includes(tenant) || reporter === butOf || (until !== null && until <= now)) continue;
        const key = JSON.stringify([tenant, name]);
        sums.set(key, { tenant, name, amount: amount + (sums.get(key)?.amount ?? 0) });
      }
      return [...sums.values()];
    }),
});
