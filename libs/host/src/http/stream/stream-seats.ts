// How many streams a tenant has open in one process.
//
// Invariant:
//   E2. A tenant has at most `streamsPerTenantMax` streams open in one process, including those that are being opened:
//       a seat is taken in the step that counts the seats, and released however the stream ends.
import type { Metrics } from '@dormouse/ports';
import { HttpProblem } from '../problems/problem.ts';

const streamsPerTenantMax = 1_000;

export interface StreamSeats {
  /** Runs `use` in a seat of the tenant. @throws HttpProblem RATE_LIMITED */
  seated<Result>(tenant: string, use: () => Promise<Result>): Promise<Result>;
}

export function createStreamSeats(metrics?: Metrics): StreamSeats {
  const seats = new Map<string, number>();
  metrics?.gauge('dormouse_event_streams', (report) => {
    report([...seats.values()].reduce((sum, taken) => sum + taken, 0));
  });
  return {
    async seated(tenant, use) {
      const taken = seats.get(tenant) ?? 0;
      if (taken >= streamsPerTenantMax)
        throw new HttpProblem('RATE_LIMITED', `At most ${streamsPerTenantMax} streams may be open at once.`);
      seats.set(tenant, taken + 1);
      try {
        return await use();
      } finally {
        const left = (seats.get(tenant) ?? 1) - 1;
        if (left > 0) seats.set(tenant, left);
        else seats.delete(tenant);
      }
    },
  };
}
