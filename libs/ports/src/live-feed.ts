// Hints for people who watch: something was committed, the model says something. Losing one costs time, never correctness:
// a stream subscribes, reads the log, then forwards what is newer.
import type { Thread } from '@dormouse/thread';
import type { Commit } from './thread-log.ts';
import type { View } from './views.ts';
import type { ThreadKey } from './thread-key.ts';

export interface Delta {
  readonly completionId: string;
  /** 1, 2, …: a new attempt replaces what was shown. */
  readonly attempt: number;
  /** Characters of this kind and index before `text`. */
  readonly offset: number;
  readonly kind: 'text' | 'reasoning' | 'tool_input';
  readonly index: number;
  readonly text: string;
}

export type Hint =
  /** `thread`: the thread after this commit, where both ends are in one process; it spares the listener folding it again. */
  | { readonly hint: 'committed'; readonly commit: Commit; readonly thread?: Thread }
  | { readonly hint: 'delta'; readonly delta: Delta }
  | { readonly hint: 'view'; readonly view: View };

export interface LiveFeed {
  publish(key: ThreadKey, hint: Hint): void;
  /** Resolves when the subscription is in force. The returned function ends it. */
  subscribe(key: ThreadKey, listener: (hint: Hint) => void): Promise<() => void>;
  /** What the running completion has said so far, for a client that connects late; empty when unknown. */
  soFar(key: ThreadKey): Promise<readonly Delta[]>;
}
