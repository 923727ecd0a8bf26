// What tenants have used, as each process has counted it: written in batches off the path, added up when it is read.
//
// Contract (contracts/tenant-tallies.contract.ts):
//   T1. A row belongs to one reporter. Putting it again replaces it, so that a repeated write counts nothing twice;
//       rows of several reporters add up.
//   T2. `sums` leaves out the rows of the reporter that asks: it knows its own amounts better.
//   T3. A row counts before `until`; one without an end counts for ever. What no longer counts is deleted some time.
import type { TenantId } from '@dormouse/thread';

export interface TenantTally {
  readonly tenant: TenantId;
  /** What is counted, a day in it where each day counts anew. */
  readonly name: string;
  readonly amount: number;
}

export interface TenantTallyRow extends TenantTally {
  /** One process in one life. */
  readonly reporter: string;
  /** Milliseconds since the epoch; null for no end. */
  readonly until: number | null;
}

export interface TenantTallies {
  /** Resolves when durable. */
  put(rows: readonly TenantTallyRow[]): Promise<void>;
  /** What the other reporters have counted for these tenants, by name. */
  sums(tenants: readonly TenantId[], butOf: string, now: number): Promise<readonly TenantTally[]>;
}
