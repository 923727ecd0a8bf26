// Hints for people who watch: something was committed, the model says something. Losing one costs time, never correctness:
// a stream subscribes, reads the log, then forwards what is newer.
import type { RecordedEvent, Thread } from '@dormouse/thread';
import type { Soon } from './soon.ts';
import type { Commit } from './thread-log.ts';
import type { View } from './views.ts';
import type { ThreadKey } from './thread-key.ts';

export interface Delta {
  readonly completionId: string;
  /** 1, 2, …: a new attempt replaces what was shown. */
  readonly attempt: number;
  /** Characters of this kind and index before `text`. */
  readonly offset: number;
  /** `slot`: not said by the model. The attempt waits for its turn since `text` (milliseconds since the epoch); empty: not any more. */
  readonly kind: 'text' | 'reasoning' | 'tool_input' | 'slot';
  readonly index: number;
  readonly text: string;
}

/** What a commit says, and its thread as it is afterwards. */
export interface FoldedCommit {
  readonly events: readonly RecordedEvent[];
  readonly thread: Thread;
}

export type Hint =
  /** `after`: where both ends are in one process; it spares the listener reading and folding the commit again. */
  | { readonly hint: 'committed'; readonly commit: Commit; readonly after?: FoldedCommit }
  | { readonly hint: 'delta'; readonly delta: Delta }
  | { readonly hint: 'view'; readonly view: View };

export interface LiveFeed {
  publish(key: ThreadKey, hint: Hint): void;
  /** Answers when the subscription is in force. The returned function ends it. */
  subscribe(key: ThreadKey, listener: (hint: Hint) => void): Soon<() => void>;
  /** What the running completion has said so far, for a client that connects late; empty when unknown. */
  soFar(key: ThreadKey): Promise<readonly Delta[]>;
}
