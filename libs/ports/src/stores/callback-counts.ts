// How often callbacks of a call had no effect: those that had been accepted before, and those that were refused.
// Written in batches off the path; the lineage shows it.
//
// Contract (contracts/callback-counts.contract.ts):
//   C1. A row belongs to one reporter. Putting it again replaces it, so that a repeated write counts nothing twice;
//       rows of several reporters add up.
//   C2. `read` answers the sums of these calls of one thread, and leaves out a call of which nothing is known.
//   C3. Rows are kept as long as the thread's log.
import type { ThreadKey } from '../log/thread-key.ts';

export interface CallbackCount {
  readonly toolCallId: string;
  readonly duplicates: number;
  readonly refused: number;
}

export interface CallbackCountRow extends ThreadKey, CallbackCount {
  /** One process in one life, or a part of it. */
  readonly reporter: string;
}

export interface CallbackCounts {
  /** Resolves when durable. */
  put(rows: readonly CallbackCountRow[]): Promise<void>;
  read(key: ThreadKey, toolCallIds: readonly string[]): Promise<readonly CallbackCount[]>;
}
