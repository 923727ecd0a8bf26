// The commits of all threads of a tenant as one list, which only grows at its end: for readers that follow everything.
//
// Contract (contracts/tenant-log.contract.ts, every adapter):
//   G1. A reader that asks again after the place of the last commit it got gets every commit once, however many writers
//       there are and in whichever order their writes become visible: a commit that comes late is not passed over.
//   G2. The commits of one thread come in the order of their versions. Those of several threads come about in the order
//       of their times; two readings may weave them differently.
//   G3. What is appended after `end` was asked comes after its place; what was answered before does not.
//   G4. A commit may be seen a few seconds after its append was answered. An empty answer says: nothing newer yet.
//   G5. A place is opaque, and good for its tenant as long as the log exists. A text that is none: CURSOR_INVALID.
//   G6. Of many readers that wait at their ends, those are named for which something may have come: what has been
//       appended to the log of one names it within seconds of the append, with rare delays as in G4 that only a
//       reading ends. Naming one in vain costs it a reading.
import type { TenantId } from '@dormouse/thread';
import type { Commit } from './thread-log.ts';

/** A commit, and the place after it. */
export interface PlacedCommit {
  readonly commit: Commit;
  readonly place: string;
}

/** Of one reading of `grown`. */
export const placesAtOnceMax = 100;

/** A tenant, and the place up to which a reader has its log. */
export interface TenantPlace {
  readonly tenant: TenantId;
  readonly place: string;
}

export interface TenantLog {
  /** At most `limit` commits after a place; null is the place before everything. @throws Fault CURSOR_INVALID. (G5) */
  after(tenant: TenantId, place: string | null, limit: number): Promise<readonly PlacedCommit[]>;
  /** The tenants of those places, at most `placesAtOnceMax`, behind which something may be. (G6) @throws Fault */
  grown(places: readonly TenantPlace[]): Promise<readonly TenantId[]>;
  /** The place after everything that is stored. (G3) */
  end(tenant: TenantId): Promise<string>;
}
