// Short-lived tokens for one thread or its family, for browsers and end users: these never hold a tenant's key.
//
// Invariants:
//   O1. A token is a signed token of its own kind. (signed-tokens S1–S3)
//   O2. It names one tenant, one thread or one family, what may be done there, and when it ends; it can never be
//       widened. A family is the one of the thread for which the token was made.
//   O3. A token that was revoked is refused by every process within a second. (revocations.ts)
//   O4. Tokens of earlier releases have no id; they cannot be revoked, and end within a day.
import type { ThreadKey, TenantId } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, notFound } from '../refusal.ts';
import { publicId, timeSortedName } from './client-id.ts';
import type { Ending, Revocations } from './revocations.ts';
import type { ThreadFamilies } from './thread-families.ts';
import { createSignedTokens, type SignedToken } from './signed-tokens.ts';

export type ThreadAbility = 'read' | 'message' | 'answer';
export type TokenScope = 'thread' | 'family';

export interface ThreadGrant extends Ending {
  /** The root of the family that it opens; null when it opens its thread alone. */
  readonly family: string | null;
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
}

export interface WantedToken {
  readonly can: readonly ThreadAbility[];
  readonly userId: string | null;
  readonly ttlS: number;
  readonly scope: TokenScope;
}

export interface IssuedToken extends SignedToken {
  readonly id: string;
}

export interface ThreadTokens {
  /** 404 for a thread that does not exist. */
  issue(key: ThreadKey, wanted: WantedToken): Promise<Answered<IssuedToken>>;
  /** The grant, or null for anything that is not a token of ours in force. @throws Fault */
  verify(token: string): Promise<ThreadGrant | null>;
  /** Whether the grant reaches this thread of its tenant. @throws Fault */
  opens(grant: ThreadGrant, thread: string): Promise<boolean>;
  /** The token ends everywhere within a second. 404 for a thread that does not exist, or what is no token's id. (O3) */
  revoke(key: ThreadKey, id: string): Promise<Answered<null>>;
}

export const threadTokenPrefix = 'dtt_';
export const threadTokenTtlSMax = 86_400;

type Claims = {
  readonly tenant: TenantId;
  readonly can: readonly ThreadAbility[];
  readonly user_id: string | null;
  /** Absent for a thread alone. */
  readonly family?: string;
};

export interface ThreadTokenPorts extends Pick<IngressParts, 'clock' | 'entropy' | 'signingKey' | 'threads'> {
  readonly families: ThreadFamilies;
  readonly revocations: Revocations;
}

export function createThreadTokens(ports: ThreadTokenPorts): ThreadTokens {
  const { clock, entropy, threads, revocations, families } = ports;
  const kind = { prefix: threadTokenPrefix, typ: 'thread+jwt', requiredClaims: ['exp'] };
  const tokens = createSignedTokens<Claims>(kind, ports);

  async function sign(key: ThreadKey, family: string | null, wanted: WantedToken): Promise<IssuedToken> {
    const id = publicId('tok', timeSortedName(clock.now(), entropy.nonce()));
    const whole = family === null ? {} : { family };
    const claims = { tenant: key.tenant, can: wanted.can, user_id: wanted.userId, ...whole };
    const { token, expiresAt } = await tokens.sign({ thread: key.thread, jti: id }, claims, wanted.ttlS);
    return { token, id, expiresAt };
  }

  async function read(token: string): Promise<ThreadGrant | null> {
    const said = await tokens.read(token);
    if (said === null || said === 'expired' || said.sub === undefined) return null;
    const { tenant, sub: thread, can, user_id: userId, family = null, jti: id = null, exp = 0 } = said;
    return { tenant, thread, family, can, userId, id, expiresAt: exp * 1_000 };
  }

  return {
    async issue(key, wanted) {
      const found = await threads.find(key);
      if (!found.ok) return found;
      return answered(await sign(key, wanted.scope === 'family' ? await families.rootOf(key) : null, wanted)); // (O2)
    },
    async verify(token) {
      const grant = await read(token);
      return grant === null || (await revocations.isRevoked(grant)) ? null : grant; // (O3)
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
