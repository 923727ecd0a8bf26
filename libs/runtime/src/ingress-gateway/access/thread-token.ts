// Short-lived tokens for one thread or its family, for browsers and end users: these never hold a tenant's key.
//
// Invariants:
//   O1. A token is `dtt_` and a JWT (HS256) of the type and the issuer below; no store has it. Another JWT that the
//       same key has signed is no token.
//   O2. One spelling per token: the package also reads signatures with padding, spaces or other spare bits.
//   O3. It names one tenant, one thread or one family, what may be done there, and when it ends; it can never be
//       widened. A family is the one of the thread for which the token was made.
//   O4. A token that was revoked is refused by every process within a second. (revocations.ts)
//   O5. Tokens of earlier releases have no id; they cannot be revoked, and end within a day.
//   O6. A token ends at the latest with the key that has signed it. (token-keys.ts K1)
import type { ThreadKey, TenantId } from '@dormouse/ports';
import { JOSEError } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, notFound } from '../refusal.ts';
import { publicId, timeSortedName } from './client-id.ts';
import type { Ending, Revocations } from './revocations.ts';
import type { ThreadFamilies } from './thread-families.ts';
import { createTokenKeys, isCanonical } from './token-keys.ts';

export type ThreadAbility = 'read' | 'message' | 'answer';
export type TokenScope = 'thread' | 'family';

export interface ThreadGrant extends Ending {
  /** The root of the family that it opens; null when it opens its thread alone. */
  readonly family: string | null;
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
  /** Null for a token that cannot be revoked. (O5) */
  readonly id: string | null;
}

export interface WantedToken {
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
  readonly ttlS: number;
  readonly scope: TokenScope;
}

export interface IssuedToken {
  readonly token: string;
  readonly id: string;
  /** Milliseconds since the epoch, a whole second. */
  readonly expiresAt: number;
}

export interface ThreadTokens {
  /** 404 for a thread that does not exist. */
  issue(key: ThreadKey, wanted: WantedToken): Promise<Answered<IssuedToken>>;
  /** The grant, or null for anything that is not a token of ours in force. @throws Fault */
  verify(token: string): Promise<ThreadGrant | null>;
  /** Whether the grant reaches this thread of its tenant. @throws Fault */
  opens(grant: ThreadGrant, thread: string): Promise<boolean>;
  /** The token ends everywhere within a second. 404 for a thread that does not exist, or what is no token's id. (O4) */
  revoke(key: ThreadKey, id: string): Promise<Answered<null>>;
}

export const threadTokenPrefix = 'dtt_';
export const threadTokenTtlSMax = 86_400;

const [alg, typ, issuer] = ['HS256', 'thread+jwt', 'dormouse'];

/** Beside the registered ones: `sub` is the thread, `jti` the token's id. */
interface Claims {
  readonly tenant: TenantId;
  readonly can: readonly ThreadAbility[];
  readonly user_id: string | null;
  /** Absent for a thread alone. */
  readonly family?: string;
}

export interface ThreadTokenPorts extends Pick<IngressParts, 'clock' | 'entropy' | 'signingKey' | 'threads'> {
  readonly families: ThreadFamilies;
  readonly revocations: Revocations;
}

export function createThreadTokens(ports: ThreadTokenPorts): ThreadTokens {
  const { clock, entropy, threads, revocations, families } = ports;
  const keys = createTokenKeys(ports.signingKey);

  async function sign(key: ThreadKey, family: string | null, wanted: WantedToken): Promise<IssuedToken> {
    const expiresAtS = Math.ceil(clock.now() / 1_000) + wanted.ttlS;
    const id = publicId('tok', timeSortedName(clock.now(), entropy.nonce()));
    const whole = family === null ? {} : { family };
    const claims = { tenant: key.tenant, can: wanted.can, user_id: wanted.userId, ...whole } satisfies Claims;
    const jwt = new SignJWT(claims).setIssuer(issuer).setSubject(key.thread).setJti(id).setExpirationTime(expiresAtS);
    const { id: kid, secret } = keys.at(clock.now());
    const signed = await jwt.setProtectedHeader({ alg, typ, kid }).sign(secret);
    return { token: `${threadTokenPrefix}${signed}`, id, expiresAt: expiresAtS * 1_000 };
  }

  async function read(token: string): Promise<ThreadGrant | null> {
    const signature = token.slice(token.lastIndexOf('.') + 1);
    if (!token.startsWith(threadTokenPrefix) || !isCanonical(signature)) return null; // (O2)
    const currentDate = new Date(clock.now());
    const pinned = { algorithms: [alg], typ, issuer, requiredClaims: ['exp'], currentDate }; // (O1)
    try {
      const jwt = token.slice(threadTokenPrefix.length);
      const { payload } = await jwtVerify<Claims>(jwt, keys.ofHeader, pinned);
      const { tenant, sub: thread, can, user_id: userId, family = null, jti: id = null, exp = 0 } = payload;
      return thread === undefined ? null : { tenant, thread, family, can, userId, id, expiresAt: exp * 1_000 };
    } catch (error) {
      if (error instanceof JOSEError) return null;
      throw error;
    }
  }

  return {
    async issue(key, wanted) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      return answered(await sign(key, wanted.scope === 'family' ? await families.rootOf(key) : null, wanted)); // (O3)
    },
    async verify(token) {
      const grant = await read(token);
      return grant === null || (await revocations.isRevoked(grant)) ? null : grant; // (O4)
    },
    async opens({ tenant, thread: own, family }, thread) {
      if (thread === own) return true;
      return family !== null && (await families.rootOf({ tenant, thread })) === family;
    },
    async revoke(key, id) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      if (!/^tok_[0-9A-Z]{26}$/.test(id)) return notFound('token');
      await revocations.revoke({ ...key, id }, clock.now() + threadTokenTtlSMax * 1_000);
      return answered(null);
    },
  };
}
