// Short-lived tokens for one thread, for browsers and end users: these never hold a tenant's key.
//
// Invariants:
//   O1. A token is `dtt_<claims>.<mac>`: base64url of the claims' JSON and an HMAC-SHA256 over them; nothing is stored.
//   O2. The comparison takes the same time wherever the first difference is.
//   O3. It names one tenant, one thread, what may be done there, and when it ends; it can never be widened.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, ThreadKey } from '@dormouse/ports';

export type ThreadAbility = 'read' | 'message' | 'answer';

export interface ThreadGrant extends ThreadKey {
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface ThreadTokens {
  issue(key: ThreadKey, can: readonly ThreadAbility[], userId: string | null, ttlS: number): string;
  /** The grant, or null for anything that is not a token of ours in force. */
  verify(token: string): ThreadGrant | null;
}

export const threadTokenPrefix = 'dtt_';
export const threadTokenTtlSMax = 86_400;

export function createThreadTokens(deps: { readonly clock: Clock; readonly signingKey: Uint8Array }): ThreadTokens {
  const { clock, signingKey } = deps;
  const macOf = (claims: string): Buffer => createHmac('sha256', signingKey).update(`thread-token.${claims}`).digest();
  return {
    issue(key, can, userId, ttlS) {
      const grant: ThreadGrant = {
        tenant: key.tenant,
        thread: key.thread,
        can,
        userId,
        expiresAt: clock.now() + ttlS * 1_000,
      };
      const claims = Buffer.from(JSON.stringify(grant)).toString('base64url');
      return `${threadTokenPrefix}${claims}.${macOf(claims).toString('base64url')}`;
    },
    verify(token) {
      if (!token.startsWith(threadTokenPrefix)) return null;
      const [claims, mac, ...rest] = token.slice(threadTokenPrefix.length).split('.');
      if (claims === undefined || mac === undefined || rest.length > 0) return null;
      const given = Buffer.from(mac); // the text itself: base64url has spare bits, and a token has one spelling
      const right = Buffer.from(macOf(claims).toString('base64url'));
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null; // (O2)
      const grant = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as ThreadGrant;
      return grant.expiresAt > clock.now() ? grant : null;
    },
  };
}
