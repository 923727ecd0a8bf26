// Signed links with which a person answers one approval without a key: made by a key, good once.
//
// Invariants:
//   Y1. A link is a signed token of its own kind. (signed-tokens S1–S3)
//   Y2. It names one tenant, one choice of one thread, the arguments that it was made for, whose it is, what may be
//       answered, and when it ends; it can never be widened.
import type { ThreadKey, TenantId } from '@dormouse/ports';
import { createSignedTokens, type SignedToken, type SignedTokenPorts } from './signed-tokens.ts';

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
  sign(link: Omit<AnswerLink, 'expiresAt'>, ttlS: number): Promise<SignedToken>;
  /** `expired` for a link of ours that is over, null for anything that is none. */
  read(token: string): Promise<AnswerLink | 'expired' | null>;
}

export const answerLinkPrefix = 'dal_';
export const answerLinkTtlSMax = 2_592_000;

type Claims = {
  readonly tenant: TenantId;
  readonly choice: string;
  readonly shown: string;
  readonly for: string;
  readonly can: readonly LinkAnswer[];
};

export function createAnswerLinks(ports: SignedTokenPorts): AnswerLinks {
  const kind = { prefix: answerLinkPrefix, typ: 'answer-link+jwt', requiredClaims: ['exp', 'sub', 'jti'] };
  const tokens = createSignedTokens<Claims>(kind, ports);
  return {
    sign: ({ tenant, thread, id, choiceId, argumentsHash, for: person, can }, ttlS) =>
      tokens.sign({ thread, jti: id }, { tenant, choice: choiceId, shown: argumentsHash, for: person, can }, ttlS),
    async read(token) {
      const said = await tokens.read(token);
      if (said === null || said === 'expired') return said;
      const { tenant, sub: thread = '', jti: id = '', choice: choiceId, shown: argumentsHash, can, exp = 0 } = said;
      return { tenant, thread, id, choiceId, argumentsHash, for: said.for, can, expiresAt: exp * 1_000 };
    },
  };
}
