// Threads with debts that were not paid because something may not go on: their tenant, their agent, or a tool server.
// Once it may, their owners pay again what their commits owe.
//
// Contract (contracts/held-threads.contract.ts):
//   L1. A mark is durable before anything that it stands for is let go of.
//   L2. Marking again gives the mark a new number, and only the mark of that number is removed: what is held while a
//       thread is being paid keeps it marked.
//   L3. A thread has one mark for each reason: what goes on again removes no mark of what does not.
import type { TenantId } from '@dormouse/thread';
import type { ThreadKey } from '../log/thread-key.ts';

/** What has to go on first: the tenant, its agent of this name, its tool server of this name. */
export type HeldBy = 'tenant' | `agent:${string}` | `tool_server:${string}`;

/** The marked threads of one tenant that wait for the same. */
export interface HeldGroup {
  readonly tenant: TenantId;
  readonly by: HeldBy;
}

export interface HeldThread extends ThreadKey {
  /** Of the newest mark. No two marks of a thread have the same. */
  readonly mark: number;
}

export interface HeldThreads {
  /** Resolves when durable. (L1) */
  hold(key: ThreadKey, by: HeldBy): Promise<void>;
  /** What marked threads wait for. It is asked again and again: costs grow with the groups, not with the threads. */
  groups(): Promise<readonly HeldGroup[]>;
  /** Marked threads of the group, ordered by their ids, behind `after`. */
  list(group: HeldGroup, after: string | null, limit: number): Promise<readonly HeldThread[]>;
  /** Removes the mark, if it is this one. (L2) */
  remove(held: HeldThread): Promise<void>;
}
