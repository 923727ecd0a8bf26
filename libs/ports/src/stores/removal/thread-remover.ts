// Removes what the stores of an installation have of some threads of a tenant. Not here: what a bus keeps until its
// retention ends, what processes have in memory, and what backups have.
//
// Contract (contracts/thread-remover.contract.ts):
//   R1. Rows of other threads stay as they are, and so does a blob that another thread names.
//   R2. `copies` removes what was derived from the log or stored beside it, and the labels of the row: title, metadata,
//       user, external id, first words. The log stays, with what its redeliveries are judged by: the outcomes of its
//       dispatches, without their details; and so do its attempts, the revoked tokens, and its row.
//   R3. `everything` leaves nothing but the usage by day, which bills are made of, and which thread a delivery of a
//       source has woken: a delivery is one wake, for ever. With a root goes the key of its family, after the log and
//       before the row; the row goes last: a removal that was broken off is continued by the next call, and one that
//       finds nothing answers 0 rows. A family's root is removed after the threads below it.
//   R4. What a late writer brings for a removed thread reaches no other thread, and places of the tenant (tenant-log)
//       stay good.
import type { TenantId } from '@dormouse/thread';

/** What is removed of each thread. (R2, R3) */
export type Removal = 'copies' | 'everything';

export interface Removed {
  readonly rows: number;
  /** Of the log and of blobs, about as the quota `stored_bytes_max` has counted them. */
  readonly bytes: number;
}

export interface ThreadRemover {
  /** Of any number of threads; resolves when their absence is durable. (R3) @throws Fault UNAVAILABLE */
  remove(tenant: TenantId, threads: readonly string[], what: Removal): Promise<Removed>;
}
