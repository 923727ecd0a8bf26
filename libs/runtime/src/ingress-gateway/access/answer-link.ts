// Signed links with which a person answers one approval without a key: made by a key, good once.
//
// Invariants:
//   Y1. A link is `dal_` and a JWT (HS256) of the type and the issuer below; no store has it. Another JWT that the same
//       key has signed is no link. It ends at the latest with that key. (token-keys.ts K1)
//   Y2. One spelling per link: the package also reads signatures with padding, spaces or other spare bits.
//   Y3. It names one tenant, one choice of one thread, the arguments that it was made for, whose it is, what may be
//       answered, and when it ends; it can never be widened.
import type { Clock, ThreadKey, TenantId } from '@dormouse/ports';
import { JOSEError, JWTExpired } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { createTokenKeys, isCanonical, type SigningKeys } from './token-keys.ts';

export type LinkAnswer = 'allow' | 'deny';

export interface AnswerLink extends ThreadKey {
  readonly id: string;
  readonly choiceId: string;
  /** SHA-256 of the RFC 8785 JSON of the arguments that it is about. */
  readonly argumentsHash: string;
  /** A label of the person that it is for. */
  readonly for: string;
  readonly can: readonly LinkAnswer[];
  /** Milliseconds since the epoch, a whole second. */
  readonly expiresAt: number;
}

export interface AnswerLinks {
  /** `ttlS`: seconds from now. */
  sign(
    link: Omit<AnswerLink, 'expiresAt'>,
    ttlS: number,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>;
  /** `expired` for a link of ours that is over, null for anything that is none. */
  read(token: string): Promise<AnswerLink | 'expired' | null>;
}

export const answerLinkPrefix = 'dal_';
export const answerLinkTtlSMax = 2_592_000;

const [alg, typ, issuer] = ['HS256', 'answer-link+jwt', 'dormouse'];

/** Beside the registered ones: `sub` is the thread, `jti` the link's id. */
interface Claims {
  readonly tenant: TenantId;
  readonly choice: string;
  readonly shown: string;
  readonly for: string;
  readonly can: readonly LinkAnswer[];
}

export function createAnswerLinks(given: {
  readonly clock: Pick<Clock, 'now'>;
  readonly signingKey: SigningKeys;
}): AnswerLinks {
  const { clock } = given;
  const keys = createTokenKeys(given.signingKey);
  return {
    async sign({ tenant, thread, id, choiceId, argumentsHash, for: person, can }, ttlS) {
      const expiresAtS = Math.ceil(clock.now() / 1_000) + ttlS;
      const claims = { tenant, choice: choiceId, shown: argumentsHash, for: person, can } satisfies Claims;
      const jwt = new SignJWT({ ...claims }).setIssuer(issuer).setSubject(thread).setJti(id);
      const { id: kid, secret } = keys.at(clock.now());
      const signed = await jwt.setExpirationTime(expiresAtS).setProtectedHeader({ alg, typ, kid }).sign(secret);
      return { token: `${answerLinkPrefix}${signed}`, expiresAt: expiresAtS * 1_000 };
    },
    async read(token) {
      const signature = token.slice(token.lastIndexOf('.') + 1);
      if (!token.startsWith(answerLinkPrefix) || !isCanonical(signature)) return null; // (Y2)
      const currentDate = new Date(clock.now());
      const pinned = { algorithms: [alg], typ, issuer, requiredClaims: ['exp', 'sub', 'jti'], currentDate }; // (Y1)
      try {
        const { payload } = await jwtVerify<Claims>(token.slice(answerLinkPrefix.length), keys.ofHeader, pinned);
        const {
          tenant,
          sub: thread = '',
          jti: id = '',
          choice: choiceId,
          shown: argumentsHash,
          can,
          exp = 0,
        } = payload;
        return { tenant, thread, id, choiceId, argumentsHash, for: payload.for, can, expiresAt: exp * 1_000 };
      } catch (error) {
        if (error instanceof JWTExpired) return 'expired'; // the signature was good: claims are judged after it
        if (error instanceof JOSEError) return null;
        throw error;
      }
    },
  };
}
