// Hints for users who watch: a commit was stored, the model produced a delta. A lost hint costs time, never
// correctness: a stream subscribes, reads the log, then forwards what is newer.
import type { RecordedEvent, Thread } from '@dormouse/thread';
import type { Commit } from '../log/thread-log.ts';
import type { View } from '../stores/views.ts';
import type { ThreadKey } from '../log/thread-key.ts';

export interface Delta {
  readonly completionId: string;
  /** 1, 2, …: a new attempt replaces what was shown. */
  readonly attempt: number;
  /** Characters of this kind and index before `text`. */
  readonly offset: number;
  /** `slot`: not from the model. The attempt waits for a place since `text` (epoch milliseconds); empty: no longer. */
  readonly kind: 'text' | 'reasoning' | 'tool_input' | 'slot';
  readonly index: number;
  readonly text: string;
}

/** An attempt at a completion failed, and another one is due. */
export interface Retrying {
  readonly completionId: string;
  /** 1, 2, …: the attempt that failed. */
  readonly attempt: number;
  readonly code: string;
  readonly detail: string;
  /** Host of the model's endpoint, with its port if not the usual one; null when there is none or it was not asked. */
  readonly host: string | null;
  /** Milliseconds since the epoch: of the next attempt, of this failure, of the first failure of this completion. */
  readonly nextAt: number;
  readonly failedAt: number;
  readonly since: number;
}

/** The content of a commit, and its thread as it was before and is afterwards. */
export interface FoldedCommit {
  readonly before: Thread;
  readonly events: readonly RecordedEvent[];
  readonly thread: Thread;
}

export type Hint =
  /** `after`: set where both ends are in one process; the listener need not read and fold the commit again. */
  | { readonly hint: 'committed'; readonly commit: Commit; readonly after?: FoldedCommit }
  | { readonly hint: 'delta'; readonly delta: Delta }
  | { readonly hint: 'retrying'; readonly retrying: Retrying }
  /** A question to a person began or ended in a thread below this one. */
  | { readonly hint: 'questions' }
  | { readonly hint: 'view'; readonly view: View };

export interface LiveFeed {
  publish(key: ThreadKey, hint: Hint): void;
  /** Answers when the subscription is in force. The returned function ends it. */
  subscribe(key: ThreadKey, listener: (hint: Hint) => void): Promise<() => void>;
  /** What the running completion has said so far, for a client that connects late; empty when unknown. */
  soFar(key: ThreadKey): Promise<readonly Delta[]>;
  /** The last `retrying`, until a later attempt sends a delta. Only the thread knows whether the completion runs. */
  retrying(key: ThreadKey): Promise<Retrying | null>;
}
