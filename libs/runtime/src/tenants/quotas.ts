// The quotas of tenants: what they are where a tenant has none of its own, and how they are named on the wire.
import type { TenantQuotas, TenantRecord } from '@dormouse/ports';

export type QuotaName = keyof TenantQuotas;

/** Of a quota: null for no limit. */
export type ShownQuotas = Readonly<Record<QuotaName, number | null>>;

/** Quotas where a tenant has none of its own; null for no limit. */
export const standardQuotas: ShownQuotas = {
  requestsPerS: null,
  threadsMax: null,
  subscriptionsMax: 1_000,
  toolServersMax: null,
  streamsMax: 1_000,
  storedBytesMax: null,
  tokensPerDayMax: null,
  costMicrosPerDayMax: null,
  completionsInFlightMax: null,
};

/** `installed`: those of this installation, where they are not the standard ones. */
export const quotasOf = (
  record: Pick<TenantRecord, 'quotas'> | null | undefined,
  installed: Partial<ShownQuotas>,
): ShownQuotas => ({ ...standardQuotas, ...installed, ...record?.quotas });

/** As it is on the wire: `tokens_per_day_max`. */
export const wireNameOf = (name: QuotaName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
