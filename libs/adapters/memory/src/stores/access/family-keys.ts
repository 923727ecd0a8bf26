// Keys of families in memory. Port: ports/stores/family-keys.ts.
import type { FamilyKey, FamilyKeys, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { rising, rowsOf } from '../rows.ts';

export type FamilyKeyStore = Map<string, FamilyKey>;

export function createFamilyKeys(keys: FamilyKeyStore, passage: Passage): FamilyKeys {
  const nameOf = (tenant: TenantId, family: string): string => `${tenant}:${family}`;
  return {
    insert: (key) =>
      passage.write('familyKeys.insert', key.family, () => {
        const name = nameOf(key.tenant, key.family);
        const stored = keys.get(name) ?? key;
        keys.set(name, stored);
        return stored;
      }),
    get: (tenant, families) =>
      passage.read('familyKeys.get', tenant, () =>
        families.flatMap((family) => keys.get(nameOf(tenant, family)) ?? []),
      ),
    page: (tenant, after, limit) =>
      passage.read('familyKeys.page', tenant, () =>
        rowsOf(keys, tenant)
          .filter(({ family }) => after === null || family > after)
          .toSorted(rising(({ family }) => family))
          .slice(0, limit),
      ),
    replace: (key, seen) =>
      passage.write('familyKeys.replace', key.family, () => {
        const name = nameOf(key.tenant, key.family);
        const stored = keys.get(name);
        if (stored === undefined || stored.sealed === null || stored.sealed !== seen.sealed) return false;
        keys.set(name, key);
        return true;
      }),
    erase: (tenant, families) =>
      passage.write('familyKeys.erase', tenant, () => {
        for (const family of families) keys.set(nameOf(tenant, family), { tenant, family, sealed: null });
      }),
  };
}
