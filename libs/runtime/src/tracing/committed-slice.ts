// A decided slice as tracing sees it.
import type { Commit, ThreadKey } from '@dormouse/ports';
import type { RecordedEvent, Thread, ThreadEffect, ThreadInput } from '@dormouse/thread';

/** An input of a slice, and the context that brought it. */
export interface TracedInput {
  readonly input: ThreadInput;
  readonly trace: string | null;
  readonly deliveries?: readonly { readonly takenAt?: number }[];
}

export interface CommittedSlice {
  readonly key: ThreadKey;
  readonly commit: Pick<Commit, 'trace' | 'at' | 'version' | 'inputs'>;
  readonly inputs: readonly TracedInput[];
  readonly events: readonly RecordedEvent[];
  readonly effects: readonly ThreadEffect[];
  readonly before: Thread;
  readonly after: Thread;
}
