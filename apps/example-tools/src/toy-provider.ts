// An OAuth 2 provider to log in at, with a calendar behind it: routes of the example server, for one client. A toy:
// there are no passwords, and every visitor of the page may allow or deny.
//
// Invariants:
//   I1. A code is good once, for ten minutes, for the verifier that fits its challenge (PKCE, S256 only).
//   I2. A code that is replayed is refused, and the tokens made from it stop working (RFC 6749, 4.1.2).
//   I3. A browser is sent only to the address that the client has registered.
import { createHash, randomBytes } from 'node:crypto';
import type { OAuthProvider, Route, RouteAnswer, RouteRequest } from '@dormouse/tool-server';

const codeMsMax = 600_000;
const tokenSeconds = 3_600;
const rememberedMax = 1_000;
const paths = { authorize: '/toy/authorize', decide: '/toy/decide', token: '/toy/token' } as const;

interface Grant {
  readonly challenge: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly expiresAt: number;
  isUsed: boolean;
  readonly tokens: string[];
}

export interface ToyProvider {
  readonly client: OAuthProvider;
  readonly routes: readonly Route[];
  /** The calendar of the token's owner; null when the token is not valid. */
  readonly appointments: (accessToken: string) => readonly string[] | null;
}

export function createToyProvider(publicUrl: () => string): ToyProvider {
  const requests = new Map<string, Grant>();
  const codes = new Map<string, Grant>();
  const accessTokens = new Map<string, number>();
  const refreshTokens = new Map<string, Grant>();
  const client: OAuthProvider = {
    name: 'Toy Calendar',
    clientId: 'example-tools',
    authorizationEndpoint: paths.authorize,
    tokenEndpoint: paths.token,
    scopes: ['calendar.read'],
    allowInsecureLoopback: true,
  };

  function authorize({ query }: RouteRequest): RouteAnswer {
    const redirectUri = `${publicUrl()}/oauth/callback`;
    const [challenge, state] = [query.get('code_challenge') ?? '', query.get('state') ?? ''];
    const isGood =
      query.get('response_type') === 'code' &&
      query.get('client_id') === client.clientId &&
      query.get('redirect_uri') === redirectUri && // (I3)
      query.get('code_challenge_method') === 'S256' &&
      challenge.length === 43 &&
      state !== '';
    if (!isGood) return page(400, '<p>This request is not valid.</p>');
    const request = remember(requests, {
      challenge,
      state,
      redirectUri,
      expiresAt: Date.now() + codeMsMax,
      isUsed: false,
      tokens: [],
    });
    const link = (decision: string, label: string): string =>
      `<a href="${paths.decide}?request=${request}&amp;decision=${decision}">${label}</a>`;
    return page(
      200,
      `<p>May the example tools read your toy calendar?</p><p>${link('allow', 'Allow')} · ${link('deny', 'Deny')}</p>`,
    );
  }

  function decide({ query }: RouteRequest): RouteAnswer {
    const id = query.get('request') ?? '';
    const grant = requests.get(id);
    requests.delete(id);
    if (grant === undefined || grant.expiresAt < Date.now()) return page(400, '<p>This request is over.</p>');
    const location = new URL(grant.redirectUri);
    location.searchParams.set('state', grant.state);
    if (query.get('decision') === 'allow') location.searchParams.set('code', remember(codes, grant));
    else location.searchParams.set('error', 'access_denied');
    return { status: 302, headers: { location: location.href, 'cache-control': 'no-store' } };
  }

  function token({ body }: RouteRequest): RouteAnswer {
    const form = new URLSearchParams(body.toString('utf8'));
    if (form.get('client_id') !== client.clientId) return json(401, { error: 'invalid_client' });
    const grant = form.get('grant_type') === 'refresh_token' ? grantOfRefresh(form) : grantOfCode(form);
    if (grant === null) return json(400, { error: 'invalid_grant' });
    const access = remember(accessTokens, Date.now() + tokenSeconds * 1_000);
    const refresh = remember(refreshTokens, grant);
    grant.tokens.push(access, refresh);
    const tokens = { access_token: access, refresh_token: refresh };
    return json(200, { ...tokens, token_type: 'Bearer', expires_in: tokenSeconds, scope: 'calendar.read' });
  }

  /** (I1) */
  function grantOfCode(form: URLSearchParams): Grant | null {
    const grant = codes.get(form.get('code') ?? '');
    if (grant === undefined || grant.expiresAt < Date.now() || form.get('redirect_uri') !== grant.redirectUri)
      return null;
    if (grant.isUsed) {
      for (const each of grant.tokens) if (!accessTokens.delete(each)) refreshTokens.delete(each); // (I2)
      return null;
    }
    grant.isUsed = true;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return challenge === grant.challenge ? grant : null;
  }

  function grantOfRefresh(form: URLSearchParams): Grant | null {
    const given = form.get('refresh_token') ?? '';
    const grant = refreshTokens.get(given);
    refreshTokens.delete(given);
    return grant ?? null;
  }

  return {
    client,
    routes: [
      { method: 'GET', path: paths.authorize, handle: authorize },
      { method: 'GET', path: paths.decide, handle: decide },
      { method: 'POST', path: paths.token, handle: token },
    ],
    appointments(accessToken) {
      if ((accessTokens.get(accessToken) ?? 0) < Date.now()) return null;
      return ['09:30 tea with the Hatter', '11:00 croquet', '16:00 nap'];
    },
  };
}

/** Under a random name; the oldest is dropped first. */
function remember<Value>(map: Map<string, Value>, value: Value): string {
  const name = randomBytes(24).toString('base64url');
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > rememberedMax && oldest !== undefined) map.delete(oldest);
  return name;
}

const page = (status: number, html: string): RouteAnswer => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  },
  body: `<!doctype html><title>Toy Calendar</title>${html}`,
});

const json = (status: number, value: object): RouteAnswer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(value),
});
