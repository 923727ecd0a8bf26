// Callers whose tokens an identity provider signs: a real OpenID Connect provider, and what may be wrong with a token.
import { createHmac } from 'node:crypto';
import { type CryptoKey, decodeJwt, exportSPKI, importJWK, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  audience,
  type IdentityProvider,
  newSigningKey,
  otherAudience,
  startIdentityProvider,
} from '../identity/identity-provider.ts';
import { eventually, openThread, scriptedAgent, type System } from './conversation.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

const platformKey = 'platform-key-of-the-specs';
let provider: IdentityProvider;
let at: System;
/** A tenant of its own per part, with the key that is made with it. */
let acme: System;

beforeAll(async () => {
  provider = await startIdentityProvider();
  at = await startSystem({
    ...{ DORMOUSE_PLATFORM_KEY: platformKey, DORMOUSE_OIDC_ISSUER: provider.issuer },
    ...{ DORMOUSE_OIDC_AUDIENCE: audience, DORMOUSE_OIDC_USER_CLAIM: 'email' },
  });
  acme = await tenant('acme');
});
afterAll(async () => {
  await provider.close();
  await endSystems();
});

const platform = (method: string, path: string, body?: unknown): Promise<Answer> =>
  at.request(method, `/v1/tenants${path}`, body, { key: platformKey });

async function tenant(id: string, more: object = {}): Promise<System> {
  const { key } = (await platform('POST', '', { id, ...more })).json;
  return { ...at, key, request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }) };
}

const ann = { tenant: 'acme', email: 'ann@acme.example' };

/** What the API answers to a token. */
const asked = (token: string, method = 'GET', path = '/v1/agents', body?: unknown): Promise<Answer> =>
  at.request(method, path, body, { key: token });

const nowS = (): number => Math.floor(Date.now() / 1_000);
const claims = (more: JWTPayload = {}): JWTPayload => ({
  ...{ iss: provider.issuer, aud: audience, sub: 'robot', iat: nowS(), exp: nowS() + 600, scope: 'read' },
  ...ann,
  ...more,
});

const rowsOf = async (action: string): Promise<readonly Json[]> =>
  (await acme.request('GET', `/v1/audit?action=${action}&limit=200`)).json.data;

describe('a token of the identity provider', () => {
  it('is a caller: its tenant, its scopes, its user', async () => {
    const agent = await scriptedAgent(acme, [[{ text: 'hello' }]], { tool_servers: [] });
    const token = await provider.token({ claims: ann, scope: 'read threads:write' });
    const opened = await asked(token, 'POST', '/v1/threads', { agent });
    expect([opened.status, opened.json.user_id]).toEqual([201, ann.email]);
    expect((await asked(token, 'GET', `/v1/threads/${opened.json.id}`)).status).toBe(200);
    const named = await asked(token, 'POST', '/v1/threads', { agent, user_id: 'bob' });
    expect(named.json.user_id).toBe('bob');
    expect((await at.request('GET', `/v1/threads/${opened.json.id}`)).status).toBe(404);
  });

  it('that lacks a scope is refused with its name, and that is in the audit under its subject', async () => {
    const token = await provider.token({ claims: ann, scope: 'read' });
    const refused = await asked(token, 'POST', '/v1/threads', { agent: 'none' });
    expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining('threads:write')]);
    expect(await rowsOf('auth.forbidden')).toContainEqual(expect.objectContaining({ actor: 'oidc:robot' }));
    const wild = await asked(await provider.forge(claims({ scope: 'openid profile admin' })));
    expect(wild.status).toBe(403);
  });

  it('may list its scopes as an array', async () => {
    const token = await provider.forge(claims({ scope: ['read'] }));
    expect((await asked(token)).status).toBe(200);
  });

  it('is never taken from a query', async () => {
    const token = await provider.token({ claims: ann });
    const answer = await at.request('GET', `/v1/agents?access_token=${token}`, undefined, { key: null });
    expect(answer.status).toBe(401);
  });

  it('shares the rate of its tenant', async () => {
    const slow = await tenant('slow', { quotas: { requests_per_s: 5 } });
    const token = await provider.token({ claims: { ...ann, tenant: 'slow' } });
    const both = () => [slow.request('GET', '/v1/agents'), asked(token)] as const;
    const statusesOf = async (rounds: number): Promise<readonly number[]> =>
      (await Promise.all(Array.from({ length: rounds }, both).flat())).map(({ status }) => status);
    expect(await statusesOf(1)).toEqual([200, 200]);
    expect(await statusesOf(5)).toContain(429); // at once: one after the other, a slow machine keeps to the rate
  });
});

describe('what is wrong with a token', () => {
  const refusedWith = async (token: string, status = 401): Promise<void> => {
    const answer = await asked(token);
    expect([answer.status, answer.json.code]).toEqual([status, status === 401 ? 'UNAUTHENTICATED' : answer.json.code]);
  };

  it('the good one differs from the bad ones by what their titles say', async () => {
    expect((await asked(await provider.forge(claims()))).status).toBe(200);
  });

  it('is for another audience', async () => {
    await refusedWith(await provider.token({ claims: ann, resource: otherAudience }));
    expect(await rowsOf('auth.failed')).toContainEqual(
      expect.objectContaining({ actor: 'oidc:robot', outcome: 'wrong_audience' }),
    );
  });

  it('is of another issuer', async () => {
    await refusedWith(await provider.forge(claims({ iss: 'https://evil.example' })));
    await refusedWith(await provider.forge(claims({ iss: `${provider.issuer}/` })));
  });

  it('is not signed: alg none', async () => {
    for (const alg of ['none', 'None', 'NONE']) {
      const unsigned = [{ alg, typ: 'at+jwt' }, claims()].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      await refusedWith(`${unsigned.join('.')}.`);
      await refusedWith(unsigned.join('.'));
    }
    const [, payload, signature] = (await provider.forge(claims())).split('.');
    await refusedWith(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.${signature}`);
  });

  it('is signed with the public key as a secret', async () => {
    const { jwk, kid } = provider.key();
    const { kty, n, e } = jwk;
    const pem = await exportSPKI((await importJWK({ kty, n, e } as never, 'RS256')) as CryptoKey);
    const signed = [{ alg: 'HS256', kid, typ: 'at+jwt' }, claims()]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    await refusedWith(`${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`);
  });

  it('is signed with a key of another, under the id of a known key', async () => {
    const other = { ...(await newSigningKey('RS256')), kid: provider.key().kid };
    await refusedWith(await provider.forge(claims(), { key: other }));
  });

  it('has ended', async () => {
    const token = await provider.token({ claims: ann, ttlS: 2 });
    expect((await asked(token)).status).toBe(200);
    await eventually(async () => Date.now() / 1_000 > (decodeJwt(token).exp ?? 0));
    await refusedWith(token);
    expect(await rowsOf('auth.failed')).toContainEqual(
      expect.objectContaining({ actor: 'oidc:robot', outcome: 'expired' }),
    );
    const endless = claims();
    delete endless.exp;
    await refusedWith(await provider.forge(endless));
  });

  it('begins later than a clock may differ', async () => {
    await refusedWith(await provider.forge(claims({ nbf: nowS() + 300 })));
    await refusedWith(await provider.forge(claims({ iat: nowS() + 300 })));
    expect((await asked(await provider.forge(claims({ nbf: nowS() + 30, iat: nowS() + 30 })))).status).toBe(200);
  });

  it('names no tenant, or none that is known', async () => {
    await refusedWith(await provider.token({ claims: { email: 'ann@acme.example' } }));
    await refusedWith(await provider.token({ claims: { ...ann, tenant: 'nowhere' } }));
    await refusedWith(await provider.forge(claims({ tenant: ['acme'] })));
    await refusedWith(await provider.forge(claims({ tenant: '*platform' })));
  });

  it('its tenant is suspended', async () => {
    const paused = await tenant('paused');
    const token = await provider.token({ claims: { ...ann, tenant: 'paused' } });
    expect((await asked(token)).status).toBe(200);
    await platform('PATCH', '/paused', { state: 'suspended' });
    await eventually(async () => (await paused.request('GET', '/v1/agents')).status === 403);
    const answer = await asked(token);
    expect([answer.status, answer.json.code]).toEqual([403, 'TENANT_SUSPENDED']);
  });

  it('is another kind of token of the same issuer', async () => {
    await refusedWith(await provider.forge(claims(), { header: { typ: 'logout+jwt' } }));
  });

  it('does not manage tenants', async () => {
    const token = await provider.token({ claims: ann });
    expect((await asked(token, 'GET', '/v1/tenants')).status).toBe(403);
  });
});

describe('an open stream', () => {
  it('ends with the token that opened it', async () => {
    const agent = await scriptedAgent(acme, [[{ text: 'hello' }]], { tool_servers: [] });
    const thread = await openThread(acme, agent);
    const token = await provider.token({ claims: ann, ttlS: 4 });
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const response = await fetch(`${at.url}/v1/threads/${thread}/events`, { headers });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    while (reader !== undefined && !(await reader.read()).done);
    const lateMs = Date.now() - (decodeJwt(token).exp ?? 0) * 1_000;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(20_000); // a second, on a machine that has the time
  });
});

// Last: the keys of before are of no use to the specs above.
describe('the keys of the identity provider', () => {
  it('are read again for a new one, and seldom for any number of unknown ones', async () => {
    const before = await provider.forge(claims());
    const readsBefore = provider.keyReads();
    await provider.rotate();
    expect((await asked(await provider.token({ claims: ann }))).status).toBe(200);
    expect(provider.keyReads()).toBeGreaterThan(readsBefore);
    expect((await asked(before)).status).toBe(401);
    const stranger = await newSigningKey('ES256');
    const unknown = await Promise.all(
      Array.from({ length: 100 }, (_, nth) =>
        provider.forge(claims(), { key: { ...stranger, kid: `unknown-${nth}` } }),
      ),
    );
    const reads = provider.keyReads();
    const answers = await Promise.all(unknown.map((token) => asked(token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(provider.keyReads() - reads).toBeLessThanOrEqual(6);
  });

  it('stay good while it is away, and no other one is', async () => {
    const token = await provider.token({ claims: ann });
    const stranger = await newSigningKey('ES256');
    await provider.down();
    expect((await asked(token)).status).toBe(200);
    const unknown = await asked(await provider.forge(claims(), { key: stranger }));
    expect([401, 503]).toContain(unknown.status);
    await provider.up();
    expect((await asked(token)).status).toBe(200);
  });
});
