// Texts that an installation signs and reads back, such as thread tokens: each is the prefix of its kind and a JWT
// (HS256) about one thread.
//
// Invariants:
//   S1. The JWT is of the kind's type and of the issuer below, and no store has it. Another JWT that the same key has
//       signed is none of that kind.
//   S2. One spelling per text: the package also reads signatures with padding, spaces or other spare bits.
//   S3. It ends at the latest with the key that has signed it. (token-keys K1)
import type { Clock } from '@dormouse/ports';
import type { JWTPayload } from 'jose';
import { JOSEError, JWTExpired } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { createTokenKeys, type SigningKeys } from './token-keys.ts';

export interface SignedTokenPorts {
  readonly clock: Pick<Clock, 'now'>;
  readonly signingKey: SigningKeys;
}

export interface SignedToken {
  readonly token: string;
  /** Milliseconds since the epoch, a whole second. */
  readonly expiresAt: number;
}

export interface SignedTokens<Claims> {
  /** `jti` is the token's id; the thread is read back as `sub`. `ttlS`: seconds from now. */
  sign(about: { readonly thread: string; readonly jti: string }, claims: Claims, ttlS: number): Promise<SignedToken>;
  /** What a text of this kind says; `expired` for one that is over, null for anything that is none. */
  read(token: string): Promise<(JWTPayload & Claims) | 'expired' | null>;
}

const [alg, issuer] = ['HS256', 'dormouse'];

export function createSignedTokens<Claims extends JWTPayload>(
  { prefix, typ, requiredClaims }: { prefix: string; typ: string; requiredClaims: string[] },
  { clock, signingKey }: SignedTokenPorts,
): SignedTokens<Claims> {
  const keys = createTokenKeys(signingKey);
  return {
    async sign({ thread, jti }, claims, ttlS) {
      const expiresAtS = Math.ceil(clock.now() / 1_000) + ttlS;
      const jwt = new SignJWT({ ...claims }).setIssuer(issuer).setSubject(thread).setJti(jti);
      const { id: kid, secret } = keys.at(clock.now());
      const signed = await jwt.setExpirationTime(expiresAtS).setProtectedHeader({ alg, typ, kid }).sign(secret);
      return { token: `${prefix}${signed}`, expiresAt: expiresAtS * 1_000 };
    },
    async read(token) {
      const signature = token.slice(token.lastIndexOf('.') + 1);
      if (!token.startsWith(prefix) || !isCanonical(signature)) return null; // (S2)
      const currentDate = new Date(clock.now());
      const pinned = { algorithms: [alg], typ, issuer, requiredClaims, currentDate }; // (S1)
      try {
        return (await jwtVerify<Claims>(token.slice(prefix.length), keys.ofHeader, pinned)).payload;
      } catch (error) {
        if (error instanceof JWTExpired) return 'expired'; // the signature was good: claims are judged after it
        if (error instanceof JOSEError) return null;
        throw error;
      }
    },
  };
}

const isCanonical = (base64url: string): boolean =>
  Buffer.from(base64url, 'base64url').toString('base64url') === base64url;
