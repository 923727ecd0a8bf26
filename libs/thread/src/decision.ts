// The result of `decide`: facts and debts, or a refusal that needs no commit.
import type { ThreadEffect } from './effect.ts';
import type { RecordedEvent } from './event.ts';
import type { Thread } from './thread.ts';

/** Reasons that no later state of the thread can lift; only these may stay uncommitted. (V3) */
export type StableRefusal =
  | 'ALREADY_OPEN'
  | 'NOT_OPEN'
  | 'CLOSED'
  | 'NOT_PENDING'
  | 'SUPERSEDED'
  | 'NO_TIMER'
  | 'NOT_LOADING'
  | 'NOT_SUBSCRIBED'
  | 'NOT_THE_PARENT'
  | 'NOT_MIGRATING'
  | 'NOT_AT_REST';

export type Decision =
  | {
      readonly committed: true;
      /** Never empty. */
      readonly events: readonly RecordedEvent[];
      readonly effects: readonly ThreadEffect[];
      /** The thread after `events`. */
      readonly thread: Thread;
    }
  | { readonly committed: false; readonly refusal: StableRefusal };
