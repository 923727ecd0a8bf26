// Threads with debts that were not paid because their tenant may not go on. Once it may, their owners pay again what
// their commits owe.
//
// Contract (contracts/held-threads.contract.ts):
//   L1. A mark is durable before anything that it stands for is let go of.
//   L2. Marking again gives the mark a new number, and only the mark of that number is removed: what is held while a
//       thread is being paid keeps it marked.
import type { ThreadKey } from '../log/thread-key.ts';

export interface HeldThread extends ThreadKey {
  /** Of the newest mark. */
  readonly mark: number;
}

export interface HeldThreads {
  /** Resolves when durable. (L1) */
  hold(key: ThreadKey): Promise<void>;
  /** Tenants with marked threads. */
  tenants(): Promise<readonly string[]>;
  /** Marked threads of the tenant, ordered by their ids, behind `after`. */
  list(tenant: string, after: string | null, limit: number): Promise<readonly HeldThread[]>;
  /** Removes the mark, if it is this one. (L2) */
  remove(held: HeldThread): Promise<void>;
}
