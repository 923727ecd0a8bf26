// What the platform does with tenants: makes, changes, suspends, resumes and deletes them.
//
// Invariants:
//   P1. A tenant's first key is made before the tenant: one that cannot be made again, after a crash between the two,
//       was told to no client and opens nothing.
//   P2. A change is made to the record that was read for it, or to a newer one: two at once are both made.
//   P3. A deleted tenant is not found, and its id not given again. While it is being deleted it is found, and nothing
//       of it can be changed.
import type { PageRequest, TenantQuotas, TenantRecord, TenantState, TenantId, Page } from '@dormouse/ports';
import { Fault, newTenant } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { quotasOf, type ShownQuotas } from '../../tenants/quotas.ts';
import type { TenantRecords } from '../../tenants/tenant-records.ts';
import { allScopes, type KeyApi } from '../access/api-keys.ts';
import { answered, type Answered, notFound, refused } from '../refusal.ts';

export interface ShownTenant extends Omit<TenantRecord, 'quotas' | 'deletedAt'> {
  readonly quotas: ShownQuotas;
}

/** Null for the default. */
export type QuotaChanges = Readonly<Partial<Record<keyof TenantQuotas, number | null>>>;

export interface TenantChanges extends Partial<
  Pick<TenantRecord, 'name' | 'weight' | 'origins' | 'retentionDays' | 'traceContent' | 'outboundAllow'>
> {
  readonly state?: 'active' | 'suspended';
  readonly quotas?: QuotaChanges;
}

export interface TenantApi {
  /** The tenant, and the text of its first key. */
  create(id: TenantId, given: Omit<TenantChanges, 'state'>): Promise<Answered<MadeTenant>>;
  list(page: PageRequest): Promise<Page<ShownTenant>>;
  get(id: TenantId): Promise<Answered<ShownTenant>>;
  change(id: TenantId, changes: TenantChanges): Promise<Answered<ShownTenant>>;
  /** It is suspended at once; what it has is erased later. Again is the same. */
  remove(id: TenantId): Promise<Answered<ShownTenant>>;
  /** Makes sure that it exists: the tenant of an installation that has no other. */
  ensure(id: TenantId): Promise<void>;
}

export interface MadeTenant {
  readonly id: string;
  readonly key: string;
}

const triesMax = 20;

export interface TenantPorts extends Pick<IngressParts, 'tenants' | 'clock' | 'quotas'> {
  readonly records: Pick<TenantRecords, 'forget'>;
  readonly keys: Pick<KeyApi, 'create' | 'discard'>;
}

export function createTenantApi({ tenants, clock, records, quotas: installed = {}, keys }: TenantPorts): TenantApi {
  const shown = ({ deletedAt: _, ...tenant }: TenantRecord): ShownTenant => ({
    ...tenant,
    quotas: quotasOf(tenant, installed),
  });

  async function find(id: TenantId): Promise<TenantRecord | null> {
    const tenant = await tenants.get(id);
    return tenant === null || tenant.state === 'deleted' ? null : tenant; // (P3)
  }

  /** (P2) */
  async function replaced(
    id: TenantId,
    change: (seen: TenantRecord) => TenantRecord | Answered<never>,
  ): Promise<Answered<ShownTenant>> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const seen = await find(id);
      if (seen === null) return notFound('tenant');
      const next = change(seen);
      if ('ok' in next) return next;
      if (next === seen || (await tenants.replace(next, seen))) {
        records.forget(id);
        return answered(shown(next));
      }
    }
    throw new Fault('UNAVAILABLE', 'this tenant is being changed by others; send it again');
  }

  return {
    async create(id, given) {
      const { quotas = {}, ...rest } = given;
      if ((await tenants.get(id)) !== null) return taken;
      const first = { name: 'admin', scopes: allScopes, agents: null, expiresAt: null };
      const made = await keys.create(id, first, { scopes: allScopes, agents: null }); // (P1)
      if (!made.ok) return made;
      const tenant = newTenant(id, clock.now(), { ...rest, quotas: changedQuotas({}, quotas) });
      if (await tenants.insert(tenant)) return answered({ id, key: made.value.key });
      await keys.discard(id, made.value.id);
      return taken;
    },
    async list(page) {
      const { data, nextCursor } = await tenants.list(page);
      return { data: data.filter(({ state }) => state !== 'deleted').map(shown), nextCursor };
    },
    async get(id) {
      const tenant = await find(id);
      return tenant === null ? notFound('tenant') : answered(shown(tenant));
    },
    change: (id, { quotas = {}, ...rest }) =>
      replaced(id, (seen) => {
        if (seen.state === 'deleting') return beingDeleted;
        return { ...seen, ...rest, quotas: changedQuotas(seen.quotas, quotas), updatedAt: clock.now() };
      }),
    remove: (id) =>
      replaced(id, (seen) => {
        if (seen.state === 'deleting') return seen;
        const now = clock.now();
        return { ...seen, state: 'deleting' satisfies TenantState, updatedAt: now, deletedAt: now };
      }),
    async ensure(id) {
      if ((await tenants.get(id)) === null) await tenants.insert(newTenant(id, clock.now()));
    },
  };
}

const taken = refused('ALREADY_EXISTS', 'This tenant id was used before; an id is never given again.', {
  errors: [{ pointer: '/id', detail: 'was used before' }],
});

const beingDeleted = refused('ALREADY_EXISTS', 'This tenant is being deleted, and cannot be changed.');

/** Those of `quotas`, but for the changed ones; null takes one back to its default. */
function changedQuotas(quotas: Partial<TenantQuotas>, changes: QuotaChanges): Partial<TenantQuotas> {
  const all = { ...quotas, ...changes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null && value !== undefined));
}
