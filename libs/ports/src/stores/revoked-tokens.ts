// Thread tokens that end before their time. The tokens themselves are in no store.
//
// Contract (contracts/revoked-tokens.contract.ts):
//   R1. What was revoked is found, by every process, from then on until `expiresAt`; afterwards it may be forgotten.
//   R2. A token is its tenant, its thread and its id together.
import type { ThreadKey } from '../log/thread-key.ts';

export interface TokenName extends ThreadKey {
  readonly id: string;
}

export interface RevokedTokens {
  /** Resolves when durable. `expiresAt` in milliseconds since the epoch. Again is the same. */
  add(token: TokenName, expiresAt: number): Promise<void>;
  /** Those of `tokens` that were revoked, at most `tokensAtOnceMax` at once. One read, however many. */
  among(tokens: readonly TokenName[]): Promise<readonly TokenName[]>;
}

export const tokensAtOnceMax = 1_000;
