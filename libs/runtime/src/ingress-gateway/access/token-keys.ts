// The keys that sign thread tokens and answer links, one after the other.
//
// Invariants:
//   K1. What is signed names its key, and is good under that key only; what an earlier release has signed names none,
//       and is of the oldest.
import type { JWSHeaderParameters } from 'jose';
import { JWSSignatureVerificationFailed } from 'jose/errors';

/** A key that signs. */
export interface TokenKey {
  readonly id: string;
  readonly secret: Uint8Array;
  /** Signs from this time on, milliseconds since the epoch. */
  readonly since: number;
}

/** One, or several that take turns. */
export type SigningKeys = Uint8Array | readonly TokenKey[];

export interface TokenKeys {
  /** The one that signs at this time. */
  at(now: number): TokenKey;
  /** @throws JWSSignatureVerificationFailed when there is none of this name. (K1) */
  readonly ofHeader: (header: JWSHeaderParameters) => Uint8Array;
}

export function createTokenKeys(given: SigningKeys): TokenKeys {
  const all = given instanceof Uint8Array ? [{ id: 'k1', secret: given, since: 0 }] : given;
  const keys = all.toSorted((left, right) => left.since - right.since);
  const [oldest] = keys;
  if (oldest === undefined) throw new RangeError('there is no key for tokens');
  return {
    at: (now) => keys.findLast(({ since }) => since <= now) ?? oldest,
    ofHeader: ({ kid }) => {
      const key = kid === undefined ? oldest : keys.find((each) => each.id === kid);
      if (key === undefined) throw new JWSSignatureVerificationFailed();
      return key.secret;
    },
  };
}
