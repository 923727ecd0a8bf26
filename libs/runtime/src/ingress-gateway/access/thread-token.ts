// Short-lived tokens for one thread, for browsers and end users: these never hold a tenant's key.
//
// Invariants:
//   O1. A token is `dtt_` and a JWT (HS256) of the type and the issuer below; nothing is stored. Another JWT that the
//       same key has signed is no token.
//   O2. One spelling per token: the package also reads signatures with padding, spaces or other spare bits.
//   O3. It names one tenant, one thread, what may be done there, and when it ends; it can never be widened.
import type { Clock, ThreadKey } from '@dormouse/ports';
import { JOSEError } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';

export type ThreadAbility = 'read' | 'message' | 'answer';

export interface ThreadGrant extends ThreadKey {
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
}

export interface IssuedToken {
  readonly token: string;
  /** Milliseconds since the epoch, a whole second. */
  readonly expiresAt: number;
}

export interface ThreadTokens {
  issue(key: ThreadKey, can: readonly ThreadAbility[], userId: string | null, ttlS: number): Promise<IssuedToken>;
  /** The grant, or null for anything that is not a token of ours in force. */
  verify(token: string): Promise<ThreadGrant | null>;
}

export const threadTokenPrefix = 'dtt_';
export const threadTokenTtlSMax = 86_400;

const [alg, typ, issuer] = ['HS256', 'thread+jwt', 'dormouse'];

/** Beside the registered ones: `sub` is the thread. */
interface Claims {
  readonly tenant: string;
  readonly can: readonly ThreadAbility[];
  readonly user_id: string | null;
}

export function createThreadTokens(deps: { readonly clock: Clock; readonly signingKey: Uint8Array }): ThreadTokens {
  const { clock, signingKey } = deps;
  return {
    async issue({ tenant, thread }, can, userId, ttlS) {
      const expiresAtS = Math.ceil(clock.now() / 1_000) + ttlS;
      const claims = { tenant, can, user_id: userId } satisfies Claims;
      const jwt = new SignJWT(claims).setIssuer(issuer).setSubject(thread).setExpirationTime(expiresAtS);
      const signed = await jwt.setProtectedHeader({ alg, typ }).sign(signingKey);
      return { token: `${threadTokenPrefix}${signed}`, expiresAt: expiresAtS * 1_000 };
    },
    async verify(token) {
      const signature = token.slice(token.lastIndexOf('.') + 1);
      if (!token.startsWith(threadTokenPrefix) || !isCanonical(signature)) return null; // (O2)
      const currentDate = new Date(clock.now());
      const pinned = { algorithms: [alg], typ, issuer, requiredClaims: ['exp'], currentDate }; // (O1)
      try {
        const { payload } = await jwtVerify<Claims>(token.slice(threadTokenPrefix.length), signingKey, pinned);
        const { tenant, sub: thread, can, user_id: userId } = payload;
        return thread === undefined ? null : { tenant, thread, can, userId };
      } catch (error) {
        if (error instanceof JOSEError) return null;
        throw error;
      }
    },
  };
}

const isCanonical = (base64url: string): boolean =>
  Buffer.from(base64url, 'base64url').toString('base64url') === base64url;
