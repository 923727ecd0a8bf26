// The event log of every thread: the only truth. One commit is one slice: history, dedup, outbox and fence.
//
// Contract (contracts/thread-log.contract.ts, every adapter; L7 and L8 in their own specs):
//   L1. `(tenant, thread, version)` is unique; an append whose version is not exactly the head is a `conflict`.
//   L2. `(tenant, thread, input)` is unique over all commits: an append with a known input is a `duplicate`.
//       When both are violated either answer may be given.
//   L3. A read that starts after an append was answered sees the commit; bytes never change.
//   L4. Each commit of a group has its own outcome; one that fails never harms the others. Within one group, commits of
//       one thread apply in array order. Several groups may be under way at once, and end in any order.
//   L5. `unknown` means: it may have been stored, now or a little later. The caller that gets it reads back by nonce.
//   L6. A read that fails throws; it never answers "nothing there".
//   L7. `too_large` means: not stored, and never will be; no later state of the store takes it.
//   L8. A commit that fails and is certainly not stored, now or later, is answered with its own error; a store that is
//       not sure answers `unknown`. When nothing of a group has an outcome, `append` throws. The caller that gets a
//       throw reads back by nonce too: it costs a read.
import type { ThreadKey } from './thread-key.ts';

/** The envelope, as stored. */
export interface Commit extends ThreadKey {
  readonly v: 1;
  /** Number of events before this commit. */
  readonly version: number;
  /** Number of events in this commit, at least 1: the next commit's version is `version + count`. */
  readonly count: number;
  /** The inputs this commit decided, at least one; well-formed text. */
  readonly inputs: readonly string[];
  /** Time of decision, milliseconds since the epoch; never before the previous commit's. */
  readonly at: number;
  /** The writer's mark: with it a writer recognises its own commit after an unknown outcome. */
  readonly nonce: string;
  readonly trace: string | null;
  /** Key id when `body` is encrypted. */
  readonly kid: string | null;
  /** `hash` of the previous commit, or '' for the first. */
  readonly prev: string;
  /** SHA-256 hex over the stored fields, see `runtime/envelope.ts`. */
  readonly hash: string;
  /** JSON of `{events, effects}` (or its encryption); opaque to the store. */
  readonly body: string;
}

export interface Append {
  readonly commit: Commit;
  /**
   * True when the commit owes effects at its own end, and decided a delivery of the bus: a store without a durable bus
   * keeps it until that delivery is released (V10). The answer of a completion comes through memory; what its commit
   * owes is covered by the deliveries that its completion holds, which are older and recover everything after them.
   */
  readonly owes: boolean;
}

export type AppendOutcome = 'appended' | 'conflict' | 'duplicate' | 'unknown' | 'too_large';

/** Answer to one append of a group: its outcome, or why it failed. (L8) */
export type AppendAnswer = AppendOutcome | Error;

export interface ThreadLog {
  /** Stores a group in one durable write. Answers in the order given. @throws when it failed as a whole. (L8) */
  append(group: readonly Append[]): Promise<readonly AppendAnswer[]>;
  /** Commits with `version >= from` in order, at most `limit` of them (default: all). */
  read(key: ThreadKey, from: number, limit?: number): Promise<readonly Commit[]>;
  /** The commit that holds the event at this position (1..n), or null beyond the head. */
  at(key: ThreadKey, position: number): Promise<Commit | null>;
  /** For each input the commit that decided it, or null. */
  findByInputs(key: ThreadKey, inputs: readonly string[]): Promise<readonly (Commit | null)[]>;
  /** The last commit, or null for a thread without one. Not for the hot path. */
  head(key: ThreadKey): Promise<Commit | null>;
}
