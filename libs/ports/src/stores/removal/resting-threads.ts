// Which threads of a tenant rest, and which of them are being removed: rows of the thread directory, as retention reads
// and marks them. Rows may lag behind the log: whether a thread rests is decided by the thread itself.
//
// Contract (contracts/resting-threads.contract.ts):
//   Q1. Pages of roots and of families, one after the other, are the whole list; a row that changes meanwhile may be
//       missing or come twice.
//   Q2. Rows of earlier releases do not say whether their thread was forked: they are listed until that is set.
//   Q3. A mark is durable when it is answered, and read with the row from then on. (thread-directory)
import type { TenantId } from '@dormouse/thread';
import type { ThreadStatus } from '../../log/thread-directory.ts';

export interface RestingRoot {
  readonly thread: string;
  readonly updatedAt: number;
}

export interface RestingThread extends RestingRoot {
  readonly status: ThreadStatus;
  /** Since when it is being removed, milliseconds since the epoch; null while it is not. */
  readonly leavingAt: number | null;
}

/** Threads that are being removed, or idle and closed ones without a subscription or an event since `before`. */
export type RootsWanted = 'leaving' | { readonly before: number };

export interface RestingThreads {
  /** Roots of families, the longest at rest first, behind one of them. (Q1) */
  roots(
    tenant: TenantId,
    wanted: RootsWanted,
    after: RestingRoot | null,
    limit: number,
  ): Promise<readonly RestingRoot[]>;
  /** Every thread of the family, by their ids, behind one of them. (Q1) */
  family(tenant: TenantId, family: string, after: string | null, limit: number): Promise<readonly RestingThread[]>;
  /** Whether a thread of another family begins with the history of one of these. */
  areForkedFrom(tenant: TenantId, threads: readonly string[], family: string): Promise<boolean>;
  /** Threads that begin with the history of one of these. */
  forksOf(tenant: TenantId, threads: readonly string[]): Promise<readonly string[]>;
  /** Marks them; null takes the marks back. (Q3) */
  leave(tenant: TenantId, threads: readonly string[], at: number | null): Promise<void>;
  /** Roots whose rows do not say whether they were forked. (Q2) */
  unplaced(tenant: TenantId, limit: number): Promise<readonly string[]>;
  /** What the thread was forked from; null for nothing. (Q2) */
  place(tenant: TenantId, thread: string, forkedFrom: string | null): Promise<void>;
}
