// Which pages of other origins may use the API: those of the installation (allowed-origins.ts), and those of the tenant
// whose credential a request has.
//
// Invariants:
//   N1. A preflight has no credential: it is answered for every origin that some tenant lists. What the page may do is
//       decided by the request that follows, by the tenant of its credential. (caller K7)
//   N2. Tenants are read at most once in `rememberedMs`, and only for an origin that the installation does not list.
import type { Clock, TenantRecord, Tenants } from '@dormouse/ports';
import { type AllowedOrigins, noOrigins, parseAllowedOrigins } from './allowed-origins.ts';

const rememberedMs = 1_000;
const tenantsAtOnce = 200;

export interface TenantOrigins {
  /** To be awaited before `allows` is asked about this origin. @throws Fault */
  look(origin: string): Promise<void>;
  /** Whether the installation, or some tenant, lists it. (N1) */
  allows(origin: string): boolean;
  /** Whether the installation, or this tenant, lists it. */
  allowsFor(tenant: TenantRecord | null, origin: string): boolean;
  /** Those of the installation. */
  readonly listed: readonly string[];
}

export const noTenantOrigins: TenantOrigins = {
  look: () => Promise.resolve(),
  allows: () => false,
  allowsFor: () => false,
  listed: [],
};

export function createTenantOrigins(
  own: AllowedOrigins,
  { tenants, clock }: { readonly tenants: Pick<Tenants, 'list'>; readonly clock: Pick<Clock, 'now'> },
): TenantOrigins {
  let ofTenants: AllowedOrigins = noOrigins;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    const at = clock.now();
    const listed: string[] = [];
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: Awaited<ReturnType<Tenants['list']>> = await tenants.list({ limit: tenantsAtOnce, cursor });
      for (const { state, origins } of page.data) if (state === 'active') listed.push(...origins);
      cursor = page.nextCursor;
    }
    ofTenants = originsOf(listed);
    readAt = at;
  }

  return {
    listed: own.listed,
    async look(origin) {
      if (own.allows(origin) || Math.abs(clock.now() - readAt) < rememberedMs) return; // (N2)
      reading ??= read().finally(() => {
        reading = null;
      });
      await reading;
    },
    allows: (origin) => own.allows(origin) || ofTenants.allows(origin),
    allowsFor: (tenant, origin) => own.allows(origin) || originsOf(tenant?.origins ?? []).allows(origin),
  };
}

const originsOf = (listed: readonly string[]): AllowedOrigins => parseAllowedOrigins(listed.join(',')).origins;
