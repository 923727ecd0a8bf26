/**
 * Owns: the definition of an OAuth 2 provider, the URL that a user visits, and the two requests to its token endpoint.
 * Not here: which user is logged in (`authorizations.ts`).
 *
 * Q1. Authorization code with PKCE (S256) only; the URL is https, except on loopback when the provider says so. T41
 * Q2. Codes and tokens are in no error and no log: a failure names its kind and nothing else. T42
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const requestTimeoutMs = 10_000;
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface OAuthProvider {
  /** For users and for the manifest: `GitHub`. */
  readonly name: string;
  readonly clientId: string;
  /** Absent for a public client; PKCE is used in any case. */
  readonly clientSecret?: string;
  /** Absolute, or a path of this server. */
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** As few as possible. */
  readonly scopes?: readonly string[];
  /** For development: plain http, on loopback only. */
  readonly allowInsecureLoopback?: boolean;
}

/** The token for a handler. Never put it into a result: it would be replaced there, and must not get there. */
export interface Authorization {
  readonly accessToken: string;
  readonly scopes: readonly string[];
  /** The provider does not accept it any more: the next `authorize` asks for a login. */
  readonly discard: () => void;
}

/** Stored, sealed. */
export interface StoredToken {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
}

const tokenSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish(),
  expires_in: z.number().positive().nullish(),
  scope: z.string().nullish(),
});

/** A failed request to the token endpoint. `refused`: a retry would not help. (Q2) */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
  readonly kind: 'refused' | 'unreachable';
  constructor(kind: 'refused' | 'unreachable') {
    super(`the token endpoint: ${kind}`);
    this.kind = kind;
  }
}

/** @throws Error if the provider cannot be used safely. (Q1) */
export function checkProvider(provider: OAuthProvider, publicUrl: string): void {
  for (const endpoint of [provider.authorizationEndpoint, provider.tokenEndpoint]) {
    const url = new URL(endpoint, publicUrl);
    const isAllowed = provider.allowInsecureLoopback === true && loopback.has(url.hostname);
    if (url.protocol !== 'https:' && !isAllowed)
      throw new Error(`OAuth provider ${provider.name}: its endpoints must be https`);
  }
}

export function authorizationUrl(
  provider: OAuthProvider,
  publicUrl: string,
  request: { readonly state: string; readonly verifier: string; readonly scopes: readonly string[] },
): string {
  const url = new URL(provider.authorizationEndpoint, publicUrl);
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri(publicUrl),
    state: request.state,
    code_challenge: createHash('sha256').update(request.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(request.scopes.length === 0 ? {} : { scope: request.scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export const redirectPath = '/oauth/callback';
const redirectUri = (publicUrl: string): string => `${publicUrl}${redirectPath}`;

/** A token for a code. @throws TokenFault */
export function exchangeCode(
  provider: OAuthProvider,
  publicUrl: string,
  request: { readonly code: string; readonly verifier: string; readonly scopes: readonly string[] },
): Promise<StoredToken> {
  const form = {
    grant_type: 'authorization_code',
    code: request.code,
    redirect_uri: redirectUri(publicUrl),
    code_verifier: request.verifier,
  };
  return askForToken(provider, publicUrl, form, request.scopes);
}

/** A new token for an old one that can be refreshed. @throws TokenFault */
export async function refreshToken(provider: OAuthProvider, publicUrl: string, old: StoredToken): Promise<StoredToken> {
  const form = { grant_type: 'refresh_token', refresh_token: old.refreshToken ?? '' };
  const token = await askForToken(provider, publicUrl, form, old.scopes);
  return token.refreshToken === undefined && old.refreshToken !== undefined
    ? { ...token, refreshToken: old.refreshToken }
    : token;
}

async function askForToken(
  provider: OAuthProvider,
  publicUrl: string,
  form: Readonly<Record<string, string>>,
  scopes: readonly string[],
): Promise<StoredToken> {
  const { clientId, clientSecret } = provider;
  const secret: Record<string, string> = clientSecret === undefined ? {} : { client_secret: clientSecret };
  const response = await fetch(new URL(provider.tokenEndpoint, publicUrl), {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({ ...form, client_id: clientId, ...secret }),
    redirect: 'error',
    signal: AbortSignal.timeout(requestTimeoutMs),
  }).catch(() => {
    throw new TokenFault('unreachable'); // the cause would reveal the request (Q2)
  });
  const body: unknown = await response.json().catch(() => null); // a body that is not JSON is no token
  const parsed = tokenSchema.safeParse(body);
  if (!response.ok || !parsed.success) throw new TokenFault(response.status >= 500 ? 'unreachable' : 'refused');
  const { access_token: accessToken, refresh_token: refresh, expires_in: seconds, scope } = parsed.data;
  return {
    accessToken,
    scopes: typeof scope === 'string' ? scope.split(' ').filter((each) => each !== '') : scopes,
    ...(typeof refresh === 'string' ? { refreshToken: refresh } : {}),
    ...(typeof seconds === 'number' ? { expiresAt: Date.now() + seconds * 1_000 } : {}),
  };
}
