// The records of tenants, as every process of an installation sees them: read again after half a second.
//
// Invariants:
//   N1. A record is remembered for `rememberedMs`: a change is in force everywhere within a second.
//   N2. A store that does not answer is a fault, never a "yes" or a "no".
//   N3. A tenant without a record may go on: it is one of before there were records. The id of a deleted tenant has one
//       for ever.
import { createSharedReads } from '@dormouse/collections';
import type { Clock, TenantRecord, Tenants, TenantId } from '@dormouse/ports';

const rememberedMs = 500;
const rememberedMax = 10_000;

export interface TenantRecords {
  /** @throws Fault */
  of(tenant: TenantId): Promise<TenantRecord | null>;
  /** Whether something may be asked, sent or answered for it. @throws Fault */
  isActive(tenant: TenantId): Promise<boolean>;
  /** As it was last read, however long ago; undefined where it never was. It is read again when it is old. */
  known(tenant: TenantId): TenantRecord | null | undefined;
  /** Whether `known` is what `of` would answer without a read. */
  isFresh(tenant: TenantId): boolean;
  /** What was remembered of it is read again. */
  forget(tenant: TenantId): void;
}

export function createTenantRecords({
  tenants,
  clock,
}: {
  readonly tenants: Pick<Tenants, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}): TenantRecords {
  const shared = createSharedReads<TenantRecord | null>();
  const remembered = new Map<string, { readonly record: TenantRecord | null; readonly until: number }>();

  async function read(tenant: TenantId): Promise<TenantRecord | null> {
    const until = clock.now() + rememberedMs; // (N1) counted from before the read
    const record = await tenants.get(tenant); // (N2)
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(tenant, { record, until });
    return record;
  }

  function fresh(tenant: TenantId): { readonly record: TenantRecord | null } | undefined {
    const known = remembered.get(tenant);
    const isFresh = known !== undefined && known.until > clock.now() && known.until <= clock.now() + rememberedMs;
    return isFresh ? known : undefined;
  }

  async function of(tenant: TenantId): Promise<TenantRecord | null> {
    const known = fresh(tenant);
    return known === undefined ? shared(tenant, () => read(tenant)) : known.record;
  }

  return {
    of,
    isActive: async (tenant) => {
      const record = await of(tenant);
      return record === null || record.state === 'active'; // (N3)
    },
    known: (tenant) => {
      if (fresh(tenant) === undefined) of(tenant).catch(() => {}); // the last one stays; the next question reads again
      return remembered.get(tenant)?.record;
    },
    isFresh: (tenant) => fresh(tenant) !== undefined,
    forget: (tenant) => void remembered.delete(tenant),
  };
}
