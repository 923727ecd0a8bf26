// Tenants in memory, and their threads that are held. Ports: ports/registry/tenants.ts, ports/stores/held-threads.ts.
import type { HeldBy, HeldThreads, TenantId, TenantRecord, Tenants } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { byId, byThread, insertNew, pageOf, replaceSeen } from '../rows.ts';
import type { RegistryStore } from './registry.ts';

export function createTenants({ tenants }: RegistryStore, passage: Passage): Tenants {
  const inOrder = (): readonly TenantRecord[] => [...tenants.values()].toSorted(byId);
  return {
    insert: (tenant) => passage.write('tenants.insert', tenant.id, () => insertNew(tenants, tenant.id, tenant)),
    get: (id) => passage.read('tenants.get', id, () => tenants.get(id) ?? null),
    list: (page) => passage.read('tenants.list', '', () => pageOf(inOrder(), page, ({ id }) => id)),
    replace: (tenant, seen) =>
      passage.write('tenants.replace', tenant.id, () => replaceSeen(tenants, tenant.id, tenant, seen)),
    deleting: () => passage.read('tenants.deleting', '', () => inOrder().filter(({ state }) => state === 'deleting')),
  };
}

export function createHeldThreads({ held }: RegistryStore, passage: Passage): HeldThreads {
  const nameOf = (tenant: TenantId, thread: string, by: HeldBy): string => JSON.stringify([tenant, thread, by]);
  return {
    hold: ({ tenant, thread }, by) =>
      passage.write('heldThreads.hold', thread, () => {
        held.marks += 1;
        held.threads.set(nameOf(tenant, thread, by), { tenant, thread, by, mark: held.marks });
      }),
    groups: () =>
      passage.read('heldThreads.groups', '', () => {
        const groups = [...held.threads.values()].map(({ tenant, by }) => [`${tenant} ${by}`, { tenant, by }] as const);
        return [...new Map(groups).values()];
      }),
    list: (group, after, limit) =>
      passage.read('heldThreads.list', group.tenant, () =>
        [...held.threads.values()]
          .filter(({ tenant, by, thread }) => tenant === group.tenant && by === group.by && thread > (after ?? ''))
          .toSorted(byThread)
          .slice(0, limit)
          .map(({ tenant, thread, mark }) => ({ tenant, thread, mark })),
      ),
    remove: ({ tenant, thread, mark }) =>
      passage.write('heldThreads.remove', thread, () => {
        for (const [name, each] of held.threads)
          if (each.tenant === tenant && each.thread === thread && each.mark === mark) held.threads.delete(name);
      }),
  };
}
