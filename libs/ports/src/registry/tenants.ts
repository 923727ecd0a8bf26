// The customers of an installation: what each may use, whether it may go on, and its record when it is gone.
//
// Contract (contracts/tenants.contract.ts):
//   T1. An id is used once, for ever: the record of a deleted tenant stays, as its tombstone.
//   T2. A record is replaced only where it is what was read: of several changes at once, one is made.
//   T3. Lists are ordered by id, tombstones among them, and their pages, one after the other, are the list.
import type { TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from './registry.ts';

/**
 * `deleting`: suspended for good, and its stores are being emptied. `deleted`: nothing of it is left but this record.
 */
export type TenantState = 'active' | 'suspended' | 'deleting' | 'deleted';

/** Limits of one tenant, over all processes. */
export interface TenantQuotas {
  readonly requestsPerS: number;
  readonly threadsMax: number;
  readonly subscriptionsMax: number;
  readonly toolServersMax: number;
  readonly streamsMax: number;
  readonly storedBytesMax: number;
  readonly tokensPerDayMax: number;
  readonly costMicrosPerDayMax: number;
  readonly completionsInFlightMax: number;
}

export interface TenantRecord {
  readonly id: TenantId;
  readonly name: string;
  readonly state: TenantState;
  /** Those that were set; the others have their defaults. */
  readonly quotas: Partial<TenantQuotas>;
  /** Its share beside other tenants, above 0. */
  readonly weight: number;
  /** Origins of pages that may use the API with its credentials. */
  readonly origins: readonly string[];
  readonly retentionDays: number | null;
  /** Whether its contents may be in traces. */
  readonly traceContent: boolean;
  /** Destinations that it may be connected to, beside public ones. */
  readonly outboundAllow: readonly string[];
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Since when it is `deleting`. */
  readonly deletedAt?: number;
}

export interface Tenants {
  /** False when the id was used before. (T1) Resolves when durable. */
  insert(tenant: TenantRecord): Promise<boolean>;
  get(id: TenantId): Promise<TenantRecord | null>;
  list(page: PageRequest): Promise<Page<TenantRecord>>;
  /** Only where `seen` is what is stored; false otherwise. (T2) */
  replace(tenant: TenantRecord, seen: TenantRecord): Promise<boolean>;
  /** All that are `deleting`: there are few. */
  deleting(): Promise<readonly TenantRecord[]>;
}

/** A record with what is not given by default. */
export const newTenant = (id: TenantId, now: number, given: Partial<TenantRecord> = {}): TenantRecord => ({
  ...{ name: id, state: 'active', quotas: {}, weight: 1, origins: [], retentionDays: null, traceContent: false },
  ...{ outboundAllow: [], createdAt: now, updatedAt: now },
  ...given,
  id,
});
