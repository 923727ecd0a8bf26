// Callback messages that are known to be durable: positive facts in memory. Port: ports/stores/dedup.ts. Losing one
// costs time, because the log dedups for ever; so the disk is not read.
import type { Dedup, TenantId } from '@dormouse/ports';

export function createRecentIds(idsMax: number): Dedup {
  // Two generations: the older one is dropped when the younger is full.
  let young = new IdsOfTenants();
  let old = new IdsOfTenants();
  return {
    seen: async (tenant, id) => young.has(tenant, id) || old.has(tenant, id),
    remember: async (tenant, id) => {
      if (young.size >= idsMax / 2) {
        old = young;
        young = new IdsOfTenants();
      }
      young.add(tenant, id);
    },
  };
}

/** A set for each tenant: a name joined from tenant and id would be a new string each time, made and hashed anew. */
class IdsOfTenants {
  readonly #tenants = new Map<string, Set<string>>();
  size = 0;

  has(tenant: TenantId, id: string): boolean {
    return this.#tenants.get(tenant)?.has(id) === true;
  }

  add(tenant: TenantId, id: string): void {
    const ids = this.#tenants.get(tenant) ?? new Set();
    const before = ids.size;
    this.#tenants.set(tenant, ids.add(id));
    this.size += ids.size - before;
  }
}
