// The URLs of open logins, sealed and with an expiry: never in the log, removed when their call is settled. R88
//
// Contract (contracts/logins.contract.ts):
//   G1. One login per call: a newer one replaces it. After `forget`, or after its expiry, it is never read.
import type { ThreadKey } from '../log/thread-key.ts';

export interface Login {
  readonly toolCallId: string;
  readonly sealed: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Logins {
  /** Resolves when durable. */
  put(key: ThreadKey, login: Login): Promise<void>;
  /** Logins of this thread that have not expired. */
  list(key: ThreadKey, now: number): Promise<readonly Login[]>;
  forget(key: ThreadKey, toolCallId: string): Promise<void>;
}
