// Access tokens of an identity provider (OpenID Connect): who the caller is, by the claims of a signed JWT.
//
// Invariants:
//   D1. Only asymmetric algorithms are known: `none`, and a signature with a secret, are refused whatever the keys are.
//   D2. One spelling per token: a flipped bit anywhere refuses it, also one that base64url does not use.
//   D3. Issuer and audience must be those of the settings; subject, tenant and end must be there.
//   D4. A token ends at its `exp` by this clock, in requests and in open streams alike. `nbf` and `iat` may be
//       `skewMsMax` ahead of this clock, so that a token of an issuer whose clock is ahead is good at once.
//   D5. Scopes that are none of ours grant nothing.
//   D6. What is known of a refused token is said only when its signature holds: else its claims are a stranger's words.
import { Fault, type Scope, type TenantId, parseTenantId } from '@dormouse/ports';
import type { JWTPayload } from 'jose';
import { JOSEError, JWTClaimValidationFailed, JWTExpired } from 'jose/errors';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { jwtVerify } from 'jose/jwt/verify';
import { allScopes } from '../api-keys.ts';
import { createIssuerKeys, type IssuerKeysPorts } from './issuer-keys.ts';

export interface IdentitySettings {
  readonly issuer: string;
  readonly audience: string;
  /** Names of claims. */
  readonly tenantClaim: string;
  readonly userClaim: string;
  readonly scopesClaim: string;
}

export interface Identity {
  readonly tenant: TenantId;
  /** `sub`: the same person or program, for ever. */
  readonly subject: string;
  /** By the user claim; null where the token has none. */
  readonly userId: string | null;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A token of the issuer that is not accepted. (D6) */
export interface RefusedIdentity {
  readonly tenant: TenantId;
  readonly subject: string;
  readonly why: 'expired' | 'not_yet_valid' | 'wrong_audience' | 'claim_missing';
}

/** At most one of them is not null. */
export interface IdentityReading {
  readonly identity: Identity | null;
  readonly refused: RefusedIdentity | null;
}

export interface IdentityTokens {
  /** Whether a credential has the form of such a token. */
  isOne(credential: string): boolean;
  /** @throws Fault UNAVAILABLE when it cannot be known. */
  read(token: string): Promise<IdentityReading>;
}

/** (D1) */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Other types of JWT that an issuer signs (logout tokens, requests) are no access tokens. */
const types: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt', 'application/jwt'];
const skewMsMax = 60_000;
const tokenCharactersMax = 16_384;
const nameCharactersMax = 200;

export function createIdentityTokens(
  settings: IdentitySettings,
  ports: Omit<IssuerKeysPorts, 'issuer'>,
): IdentityTokens {
  const { clock } = ports;
  const { issuer, audience } = settings;
  const keyOf = createIssuerKeys({ issuer, ...ports });

  const pinned = () => ({
    ...{ algorithms, issuer, audience, requiredClaims: ['sub', 'exp'] },
    ...{ clockTolerance: skewMsMax / 1_000, currentDate: new Date(clock.now()) },
  });

  async function verified(token: string): Promise<IdentityReading> {
    try {
      const { payload } = await jwtVerify(token, keyOf, pinned());
      return judge(payload);
    } catch (error) {
      if (error instanceof Fault) throw error;
      const why = error instanceof JOSEError ? whyOf(error) : null; // others are of keys that cannot be used
      return why === null ? unknown : refusedBy((error as JWTExpired | JWTClaimValidationFailed).payload, why);
    }
  }

  function judge(payload: JWTPayload): IdentityReading {
    const { sub, exp = 0, iat = 0 } = payload;
    const expiresAt = exp * 1_000;
    if (expiresAt <= clock.now()) return refusedBy(payload, 'expired'); // (D4)
    if (iat * 1_000 > clock.now() + skewMsMax) return refusedBy(payload, 'not_yet_valid');
    const tenant = tenantIn(payload);
    const subject = nameIn({ sub }, 'sub');
    const userId = nameIn(payload, settings.userClaim);
    if (tenant === null || subject === null) return unknown; // (D3)
    if (payload[settings.userClaim] !== undefined && userId === null) return refusedBy(payload, 'claim_missing');
    const scopes = scopesOf(payload[settings.scopesClaim]);
    return { identity: { tenant, subject, userId, scopes, expiresAt }, refused: null };
  }

  function tenantIn(payload: JWTPayload): TenantId | null {
    const name = nameIn(payload, settings.tenantClaim);
    return name === null ? null : parseTenantId(name);
  }

  /** (D6) */
  function refusedBy(payload: JWTPayload, why: RefusedIdentity['why']): IdentityReading {
    const tenant = tenantIn(payload);
    const subject = nameIn(payload, 'sub');
    const isOurs = payload.iss === issuer && tenant !== null && subject !== null;
    return isOurs ? { identity: null, refused: { tenant, subject, why } } : unknown;
  }

  return {
    isOne: hasFormOfToken,
    async read(token) {
      if (token.length > tokenCharactersMax || !isCanonical(token)) return unknown; // (D2)
      const { typ } = decodeProtectedHeader(token);
      return types.includes(typ?.toLowerCase()) ? verified(token) : unknown;
    },
  };
}

const unknown: IdentityReading = { identity: null, refused: null };

/** Null when nothing of the token may be believed. */
function whyOf(error: JOSEError): RefusedIdentity['why'] | null {
  if (error instanceof JWTExpired) return 'expired';
  if (!(error instanceof JWTClaimValidationFailed)) return null;
  if (error.claim === 'nbf') return 'not_yet_valid';
  return error.claim === 'aud' ? 'wrong_audience' : 'claim_missing';
}

function nameIn(payload: Readonly<Record<string, unknown>>, claim: string): string | null {
  const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
  return typeof value === 'string' && value !== '' && value.length <= nameCharactersMax ? value : null;
}

/** A list, or a text with spaces as RFC 8693 has it. (D5) */
function scopesOf(claim: unknown): readonly Scope[] {
  const named = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return allScopes.filter((scope) => named.includes(scope));
}

/** Three parts, of which the first is a JSON object with an `alg`; an unsigned one has an empty third part. */
function hasFormOfToken(credential: string): boolean {
  if (!/^[\w-]+\.[\w-]*\.[\w-]*$/.test(credential)) return false;
  try {
    return typeof decodeProtectedHeader(credential).alg === 'string';
  } catch {
    return false; // it may be a key of this form
  }
}

/** (D2) */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
