/**
 * Owns: the definition of an OAuth 2 provider, the URL that a user visits, and the two requests to its token endpoint.
 * Not here: which user is logged in (`authorizations.ts`); the grants themselves (the package).
 *
 * Q1. Authorization code with PKCE (S256) only; the URL is https, except on loopback when the provider says so. T41
 * Q2. Codes and tokens are in no error and no log: a failure names its kind and nothing else. T42
 * Q3. What real providers add to or leave out of a token response is no failure (`readable`).
 */
import * as oauth from 'oauth4webapi';

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
    if (url.protocol !== 'https:' && !mayBePlain(provider, url))
      throw new Error(`OAuth provider ${provider.name}: its endpoints must be https`);
  }
}

const mayBePlain = (provider: OAuthProvider, url: URL): boolean =>
  provider.allowInsecureLoopback === true && loopback.has(url.hostname);

export async function authorizationUrl(
  provider: OAuthProvider,
  publicUrl: string,
  request: { readonly state: string; readonly verifier: string; readonly scopes: readonly string[] },
): Promise<string> {
  const url = new URL(provider.authorizationEndpoint, publicUrl);
  const parameters = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: redirectUri(publicUrl),
    state: request.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(request.verifier),
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
  { code, verifier, scopes }: { readonly code: string; readonly verifier: string; readonly scopes: readonly string[] },
): Promise<StoredToken> {
  const { server, client, authentication, options } = endpointOf(provider, publicUrl);
  const answer = oauth.validateAuthResponse(server, client, new URLSearchParams({ code })); // the state is checked (authorizations G1)
  const uri = redirectUri(publicUrl);
  return tokenOf(
    oauth.authorizationCodeGrantRequest(server, client, authentication, answer, uri, verifier, options),
    (response) => oauth.processAuthorizationCodeResponse(server, client, response),
    scopes,
  );
}

/** A new token for an old one that can be refreshed. @throws TokenFault */
export async function refreshToken(provider: OAuthProvider, publicUrl: string, old: StoredToken): Promise<StoredToken> {
  const { server, client, authentication, options } = endpointOf(provider, publicUrl);
  const token = await tokenOf(
    oauth.refreshTokenGrantRequest(server, client, authentication, old.refreshToken ?? '', options),
    (response) => oauth.processRefreshTokenResponse(server, client, response),
    old.scopes,
  );
  return { ...(old.refreshToken === undefined ? {} : { refreshToken: old.refreshToken }), ...token };
}

function endpointOf(provider: OAuthProvider, publicUrl: string) {
  const url = new URL(provider.tokenEndpoint, publicUrl);
  return {
    server: { issuer: url.origin, token_endpoint: url.href },
    client: { client_id: provider.clientId },
    authentication: provider.clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(provider.clientSecret),
    options: {
      signal: AbortSignal.timeout(requestTimeoutMs),
      [oauth.allowInsecureRequests]: mayBePlain(provider, url), // (Q1)
      [oauth.customFetch]: async (address, init) => readable(await fetch(address, { ...init, redirect: 'error' })),
    } satisfies oauth.TokenEndpointRequestOptions,
  };
}

/**
 * A token response as the package takes it. Providers write null for what is absent, have token types of their own or
 * none, and add an `id_token`, which is not used here and whose issuer is not configured. (Q3)
 */
async function readable(response: Response): Promise<Response> {
  if (!response.ok) return response;
  const body: unknown = await response.json().catch(() => null); // a body that is not JSON is no token
  const given = Object.entries(body ?? {}).filter(([name, value]) => value !== null && name !== 'id_token');
  return Response.json({ ...Object.fromEntries(given), token_type: 'bearer' });
}

async function tokenOf(
  request: Promise<Response>,
  process: (response: Response) => Promise<oauth.TokenEndpointResponse>,
  scopes: readonly string[],
): Promise<StoredToken> {
  // The causes of both would reveal the request or the response. (Q2)
  const response = await request.catch(() => {
    throw new TokenFault('unreachable');
  });
  const token = await process(response).catch(() => {
    throw new TokenFault(response.status >= 500 ? 'unreachable' : 'refused');
  });
  const { access_token: accessToken, refresh_token: refresh, expires_in: seconds, scope } = token;
  return {
    accessToken,
    scopes: scope === undefined ? scopes : scope.split(' ').filter((each) => each !== ''),
    ...(refresh === undefined ? {} : { refreshToken: refresh }),
    ...(seconds === undefined ? {} : { expiresAt: Date.now() + seconds * 1_000 }),
  };
}
