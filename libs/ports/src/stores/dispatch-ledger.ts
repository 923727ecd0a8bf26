// The dispatcher's ledger: one record per call (or per notice and server), first outcome stays. (V7)
//
// Contract (contracts/dispatch-ledger.contract.ts):
//   D1. `claim` is won by exactly one nonce for ever, unless its winner gives it back; a repeat with the winner's nonce
//       wins again.
//   D2. The first outcome stays: `settle` answers the recorded outcome, even if another caller recorded it.
//   D3. Claims and outcomes outlive every redelivery; attempts are kept as long as the thread's log.
import type { ThreadKey } from '../log/thread-key.ts';

export type DispatchOutcome = 'sent' | 'refused' | 'exhausted' | 'unknown' | 'cancelled';

export interface LedgerEntry {
  readonly nonce: string | null;
  readonly outcome: DispatchOutcome | null;
  /** HTTP status or a short reason of the outcome. */
  readonly detail: string | null;
  readonly claimedAt: number | null;
}

export interface Attempt {
  readonly toolCallId: string;
  /** 1, 2, 3, … */
  readonly number: number;
  readonly at: number;
  /** HTTP status, or an error code such as `ECONNREFUSED`. */
  readonly status: number | string;
  readonly durationMs: number;
}

/** Everything that is known about one call. */
export interface CallRecord {
  readonly entry: LedgerEntry | null;
  readonly attempts: readonly Attempt[];
}

/** `subject` is a call id, or `<notice id>:<tool server>` for notices. */
export interface DispatchLedger {
  read(key: ThreadKey, subject: string): Promise<LedgerEntry | null>;
  /** Resolves when durable: true when this nonce holds the claim. */
  claim(key: ThreadKey, subject: string, nonce: string, at: number): Promise<boolean>;
  /** Gives this nonce's claim back, where there is no outcome: nothing was sent under it. Resolves when durable. */
  unclaim(key: ThreadKey, subject: string, nonce: string): Promise<void>;
  /** Resolves when the outcome and the attempt behind it are durable; the attempt even if another outcome was first. */
  settle(
    key: ThreadKey,
    subject: string,
    outcome: DispatchOutcome,
    detail: string | null,
    attempt?: Attempt,
  ): Promise<DispatchOutcome>;
  /** Batched; resolves when durable. */
  record(key: ThreadKey, attempt: Attempt): Promise<void>;
  /** The entry and the attempts of a call in one question: what every call asks before it is sent. */
  look(key: ThreadKey, toolCallId: string): Promise<CallRecord>;
  attempts(key: ThreadKey, toolCallIds: readonly string[]): Promise<readonly Attempt[]>;
}
