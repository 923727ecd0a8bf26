// How often something of a tenant has happened within the last period, as an estimate: what happened in the period
// before the present one counts by the part of it that is still within.
import { createBoundedMap } from '@dormouse/collections';
import type { Clock, TenantId } from '@dormouse/ports';

export interface RecentCount {
  add(tenant: TenantId): void;
  of(tenant: TenantId): number;
}

interface Periods {
  /** Number of the present period. */
  readonly nth: number;
  readonly now: number;
  readonly before: number;
}

export function createRecentCount(
  { periodMs, tenantsMax }: { readonly periodMs: number; readonly tenantsMax: number },
  clock: Pick<Clock, 'now'>,
): RecentCount {
  const counts = createBoundedMap<Periods>(tenantsMax);

  function periodsOf(tenant: TenantId): Periods {
    const nth = Math.floor(clock.now() / periodMs);
    const known = counts.get(tenant);
    if (known === undefined || Math.abs(nth - known.nth) > 1) return { nth, now: 0, before: 0 };
    return known.nth === nth ? known : { nth, now: 0, before: known.now };
  }

  return {
    add(tenant) {
      const periods = periodsOf(tenant);
      counts.set(tenant, { ...periods, now: periods.now + 1 });
    },
    of(tenant) {
      const { nth, now, before } = periodsOf(tenant);
      const left = 1 - (clock.now() / periodMs - nth);
      return now + before * left;
    },
  };
}
