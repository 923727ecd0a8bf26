// Sources and deliveries in memory. Port: ports/arrivals/sources.ts.
import type { Deliveries, Delivery, Source, Sources, TenantId } from '@dormouse/ports';
import type { Passage } from '../../gate.ts';
import { byName, pageOf, replaceSeen, rowsOf } from '../rows.ts';

/** The durable part. Keys begin with the tenant. */
export interface ArrivalStore {
  readonly sources: Map<string, Source>;
  readonly deliveries: Map<string, Delivery>;
}

const nameOf = (tenant: TenantId, name: string): string => `${tenant}:${name}`;

export function createSources({ sources }: ArrivalStore, passage: Passage): Sources {
  const all = (): readonly Source[] => [...sources.values()];
  return {
    insert: (source) =>
      passage.write('sources.insert', source.name, () => {
        const { tenant, name, tokenSha256 } = source;
        if (sources.has(nameOf(tenant, name)) || all().some((other) => other.tokenSha256 === tokenSha256)) return false;
        sources.set(nameOf(tenant, name), source);
        return true;
      }),
    get: (tenant, nameOrId) =>
      passage.read(
        'sources.get',
        nameOrId,
        () =>
          sources.get(nameOf(tenant, nameOrId)) ?? rowsOf(sources, tenant).find(({ id }) => id === nameOrId) ?? null,
      ),
    byToken: (tokenSha256) =>
      passage.read('sources.byToken', '', () => all().find((source) => source.tokenSha256 === tokenSha256) ?? null),
    list: (tenant, page) =>
      passage.read('sources.list', tenant, () =>
        pageOf(rowsOf(sources, tenant).toSorted(byName), page, ({ name }) => name),
      ),
    replace: (source, seen) =>
      passage.write('sources.replace', source.name, () =>
        replaceSeen(sources, nameOf(source.tenant, source.name), source, seen),
      ),
    remove: (tenant, name) => passage.write('sources.remove', name, () => sources.delete(nameOf(tenant, name))),
  };
}

export function createDeliveries({ deliveries }: ArrivalStore, passage: Passage): Deliveries {
  return {
    find: (tenant, id) => passage.read('deliveries.find', id, () => deliveries.get(nameOf(tenant, id)) ?? null),
    claim: (delivery) =>
      passage.write('deliveries.claim', delivery.id, () => {
        const name = nameOf(delivery.tenant, delivery.id);
        const first = deliveries.get(name);
        if (first !== undefined) return { delivery: first, isFirst: false };
        deliveries.set(name, delivery);
        return { delivery, isFirst: true };
      }),
  };
}
