// How many streams a tenant has open.
//
// Invariant:
//   E2. A tenant has at most `streams_max` streams open, including those that are being opened: in one process a seat
//       is taken in the step that counts the seats, and released however the stream ends. What other processes have
//       opened within the last seconds is not counted yet. (tenant-limits Q3)
import type { Metrics, TenantId } from '@dormouse/ports';
import type { TenantLimits } from '@dormouse/runtime';
import { HttpProblem } from '../problems/problem.ts';

export interface StreamSeats {
  /** Runs `use` in a seat of the tenant. @throws HttpProblem RATE_LIMITED */
  seated<Result>(tenant: TenantId, use: () => Promise<Result>): Promise<Result>;
}

const retryAfterMs = 5_000;

export function createStreamSeats(
  limits: Pick<TenantLimits, 'learn' | 'streamsFull' | 'streamsHere'>,
  metrics?: Metrics,
): StreamSeats {
  const seats = new Map<string, number>();
  metrics?.gauge('dormouse_event_streams', (report) => {
    report([...seats.values()].reduce((sum, taken) => sum + taken, 0));
  });

  function set(tenant: TenantId, taken: number): void {
    if (taken > 0) seats.set(tenant, taken);
    else seats.delete(tenant);
    limits.streamsHere(tenant, taken);
  }

  return {
    async seated(tenant, use) {
      await limits.learn(tenant);
      const taken = seats.get(tenant) ?? 0;
      const limit = limits.streamsFull(tenant, taken);
      if (limit !== null)
        throw new HttpProblem('RATE_LIMITED', `The tenant's quota streams_max is used up: ${limit} are open.`, {
          retryAfterMs,
        });
      set(tenant, taken + 1);
      try {
        return await use();
      } finally {
        set(tenant, (seats.get(tenant) ?? 1) - 1);
      }
    },
  };
}
