// A real OpenID Connect provider on loopback, whose tokens, keys and presence a spec decides.
import { createServer, type Server } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { freePort } from '../services/free-ports.ts';

export const audience = 'https://api.dormouse.example';
export const otherAudience = 'https://other.example';
export const allScopesText = 'read threads:write approvals:write tenant:admin';

/** A signing key of the provider, with its private part. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: 'RS256' | 'ES256';
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export interface WantedToken {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly scope?: string;
  readonly resource?: string;
  readonly ttlS?: number;
}

export interface IdentityProvider {
  readonly issuer: string;
  /** An access token, by the grant of client credentials. */
  token(wanted: WantedToken): Promise<string>;
  /** Signed with a key of the provider's, whatever it says. */
  forge(payload: JWTPayload, more?: { readonly key?: SigningKey; readonly header?: object }): Promise<string>;
  /** From now on it signs with a new key, and publishes no other. */
  rotate(): Promise<SigningKey>;
  readonly key: () => SigningKey;
  /** How often its keys were read. */
  readonly keyReads: () => number;
  /** Refuses connections until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

let keys = 0;

export async function newSigningKey(alg: SigningKey['alg'] = 'RS256'): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  keys += 1;
  const kid = `key-${keys}`;
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' } };
}

const client = { id: 'robot', secret: 'secret-of-the-robot' };

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  let wanted: WantedToken = { claims: {} };
  let key = await newSigningKey();
  let handler = handlerWith(key);
  let keyReads = 0;
  let server = await listen();

  function handlerWith(signing: SigningKey): ReturnType<Provider['callback']> {
    const provider = new Provider(issuer, {
      clients: [
        {
          ...{ client_id: client.id, client_secret: client.secret, grant_types: ['client_credentials'] },
          ...{ redirect_uris: [], response_types: [], id_token_signed_response_alg: signing.alg },
        },
      ],
      jwks: { keys: [signing.jwk as never] },
      scopes: allScopesText.split(' '),
      extraTokenClaims: () => ({ ...wanted.claims }),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => audience,
          getResourceServerInfo: (_context, resource) => ({
            ...{ scope: allScopesText, audience: resource, accessTokenFormat: 'jwt' },
            ...{ accessTokenTTL: wanted.ttlS ?? 600, jwt: { sign: { alg: signing.alg } } },
          }),
        },
      },
    });
    return provider.callback();
  }

  async function listen(): Promise<Server> {
    const listening = createServer((request, response) => {
      if (request.url === '/jwks') keyReads += 1;
      void handler(request, response);
    });
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    return listening;
  }

  async function down(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  return {
    issuer,
    key: () => key,
    keyReads: () => keyReads,
    async token(asked) {
      wanted = asked;
      const form = {
        ...{ grant_type: 'client_credentials', scope: asked.scope ?? allScopesText },
        resource: asked.resource ?? audience,
      };
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
        body: new URLSearchParams(form),
      });
      const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
      if (token === undefined) throw new Error(`the provider answered ${answer.status}`);
      return token;
    },
    forge(payload, { key: signing = key, header = {} } = {}) {
      return new SignJWT(payload)
        .setProtectedHeader({ alg: signing.alg, kid: signing.kid, typ: 'at+jwt', ...header })
        .sign(signing.privateKey);
    },
    async rotate() {
      key = await newSigningKey(key.alg === 'RS256' ? 'ES256' : 'RS256');
      handler = handlerWith(key);
      return key;
    },
    down,
    async up() {
      server = await listen();
    },
    async close() {
      if (server.listening) await down();
    },
  };
}
