import type { ApiKey } from '@dormouse/ports';
import crypto from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AuditEntry, IdentityTokens, ThreadGrant } from '@dormouse/runtime';
import { describe, expect, it, vi } from 'vitest';
import { admin, answerer, talker, threadReader } from '../../api/operation.ts';
import { createManualClock } from '@dormouse/adapter-memory';
import { Fault, newTenant, type TenantRecord, tenantId, type TenantId } from '@dormouse/ports';
import { type Caller, createDoorkeeper, mayOpen } from './caller.ts';
import { createTenantOrigins } from './tenant-origins.ts';
import { parseAllowedOrigins } from './allowed-origins.ts';
import { HttpProblem } from '../problems/problem.ts';

const acme = tenantId('acme');

const clock = createManualClock();
/** The record of the tenant of all keys here. */
let standing: TenantRecord | null = null;
const agentName = (thread: string): string => (thread === 'thr_9' ? 'sales' : 'support');
const settings = { hosts: new Set(['api.example']), gate: { pass: () => Promise.resolve({}) } };

const record: ApiKey = {
  id: 'key_1',
  tenant: acme,
  name: 'ci',
  keySha256: '',
  scopes: ['read'],
  createdAt: 0,
  expiresAt: null,
};
const open = 'ab'.repeat(32);
const grant: ThreadGrant = {
  ...{ tenant: acme, thread: 'thr_1', family: null, can: ['read'], userId: 'ann' },
  ...{ id: 'tok_1', expiresAt: 9e12 },
};
const audited: AuditEntry[] = [];
const ingress = {
  keys: {
    authenticate: () => Promise.reject(new Error()),
    look: (key: string) =>
      Promise.resolve({
        key: key === 'right' ? record : null,
        ended: key === 'ended' ? ({ tenant: acme, id: 'key_0', outcome: 'revoked' } as const) : null,
      }),
    create: () => Promise.reject(new Error()),
    ensure: () => Promise.reject(new Error()),
    inForce: () => Promise.reject(new Error()),
    list: () => Promise.reject(new Error()),
    revoke: () => Promise.reject(new Error()),
    reroll: () => Promise.reject(new Error()),
    discard: () => Promise.reject(new Error()),
  },
  tokens: {
    issue: () => Promise.reject(new Error()),
    revoke: () => Promise.reject(new Error()),
    opens: (opened: ThreadGrant, thread: string) =>
      Promise.resolve(opened.thread === thread || (opened.family !== null && thread === 'thr_child')),
    verify: (token: string) => Promise.resolve(token === 'dtt_right' ? grant : null),
  },
  sessions: {
    authenticate: (secret: string) =>
      Promise.resolve(
        secret === open
          ? {
              tenant: acme,
              name: 'laptop',
              scopes: ['read'] as const,
              agents: null,
              keys: [],
              keyId: 'key_1',
              expiresAt: 1,
            }
          : null,
      ),
    open: () => Promise.reject(new Error()),
    close: () => Promise.reject(new Error()),
    issueCode: () => Promise.reject(new Error()),
    redeem: () => Promise.reject(new Error()),
  },
  tenantRecords: {
    of: async () => standing,
    isActive: () => Promise.reject(new Error()),
    known: () => undefined,
    isFresh: () => false,
    forget: () => {},
  },
  audit: { record: async (entry: AuditEntry) => void audited.push(entry) } as never,
  agentOf: async ({ thread }: { readonly thread: string }) => (thread === 'thr_none' ? null : agentName(thread)),
};
const by = { actor: 'key_1', from: null, requestId: null };
const door = createDoorkeeper(ingress, settings);

/** Whether it is returned synchronously or as a promise. */
const identified = async (headers: IncomingHttpHeaders, queryToken?: string, url = '/v1/agents'): Promise<Caller> =>
  await door.identify({ url, headers }, queryToken);

const codeOf = (act: () => unknown): string | null => {
  try {
    act();
    return null;
  } catch (problem) {
    return problem instanceof HttpProblem ? problem.code : 'another error';
  }
};

describe('the doorkeeper', () => {
  it.each([
    ['127.0.0.1:7420', null],
    ['localhost', null],
    ['[::1]:7420', null],
    ['API.example:443', null],
    ['evil.example', 'FORBIDDEN'],
    ['127.0.0.1.evil.example', 'FORBIDDEN'],
    ['', 'FORBIDDEN'],
  ])('judges Host %s', (host, code) => {
    expect(codeOf(() => door.admit({ host }))).toBe(code);
  });

  it.each([
    ['http://localhost:3000', null],
    ['https://api.example', null],
    ['https://evil.example', 'FORBIDDEN'],
    ['https://api.example.evil.example', 'FORBIDDEN'],
    ['null', 'FORBIDDEN'],
    ['file://', 'FORBIDDEN'],
  ])('judges Origin %s', (origin, code) => {
    expect(codeOf(() => door.admit({ host: 'localhost', origin }))).toBe(code);
  });

  it('takes the tenant from the credential', async () => {
    expect(await identified({ authorization: 'Bearer right' })).toMatchObject({
      tenant: 'acme',
      name: 'ci',
      only: null,
    });
    expect(await identified({ authorization: 'bearer dtt_right' })).toMatchObject({
      tenant: 'acme',
      name: 'ann',
      only: { thread: 'thr_1' },
    });
  });

  it('carries what the gate says of the rate', async () => {
    const near = createDoorkeeper(ingress, { ...settings, gate: { pass: async () => ({ ratelimit: 'r=1' }) } });
    const caller = await near.identify({ url: '/v1/agents', headers: { authorization: 'Bearer right' } });
    expect(caller).toMatchObject({ tenant: 'acme', rate: { ratelimit: 'r=1' } });
  });

  it.each([
    {},
    { authorization: 'Basic right' },
    { authorization: 'Bearer wrong' },
    { authorization: 'Bearer dtt_wrong' },
    { authorization: 'Bearer ' },
  ])('refuses %j', async (headers) => {
    await expect(identified(headers)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('takes a thread token in the query, and never a key', async () => {
    expect(await identified({}, 'dtt_right')).toMatchObject({ only: { thread: 'thr_1' } });
    await expect(identified({}, 'right')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('a key that is wrong', () => {
  const issued = `dmk_${'ab'.repeat(32)}`;
  /** How often secrets are compared in constant time while `act` runs. */
  async function comparisonsOf(act: () => Promise<unknown>): Promise<number> {
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    await act();
    const count = compare.mock.calls.length;
    compare.mockRestore();
    syncBuiltinESMExports();
    return count;
  }

  it.each([
    ['an unknown prefix', `dmk_${'cd'.repeat(32)}`],
    ['a known prefix and another secret', `${issued.slice(0, 12)}${'0'.repeat(56)}`],
    ['one character that is wrong', `${issued.slice(0, -1)}0`],
    ['revoked', 'ended'],
    ['the form of no key', 'x'],
    ['almost the platform’s', 'platform-kez'],
  ])('K13 is compared once and looked up once: %s', async (_what, key) => {
    const looked: string[] = [];
    const keys = {
      ...ingress.keys,
      look: (text: string) => {
        looked.push(text);
        return ingress.keys.look(text);
      },
    };
    const guarded = createDoorkeeper({ ...ingress, keys }, { ...settings, platformKey: 'platform-key' });
    const answers: unknown[] = [];
    const asked = { url: '/v1/agents', headers: { authorization: `Bearer ${key}` } };
    const comparisons = await comparisonsOf(() =>
      guarded.identify(asked).catch((problem: unknown) => answers.push(problem)),
    );
    expect([comparisons, looked]).toEqual([1, [key]]);
    expect(answers).toMatchObject([
      { code: 'UNAUTHENTICATED', message: 'This key or token is not known here, or has expired.' },
    ]);
  });
});

describe('a session’s cookie', () => {
  const cookie = `other=1; dormouse_session_7420=${open}`;
  const own = { host: 'localhost:7420', cookie, 'sec-fetch-site': 'same-origin' };

  it('K5 counts for a request that a page of this origin makes to the API', async () => {
    expect(await identified(own)).toMatchObject({ tenant: 'acme', name: 'laptop', scopes: ['read'], only: null });
  });

  it.each([
    ['from another site', { ...own, 'sec-fetch-site': 'cross-site' }, '/v1/agents'],
    ['from another port of this host', { ...own, 'sec-fetch-site': 'same-site' }, '/v1/agents'],
    ['typed into the address bar', { ...own, 'sec-fetch-site': 'none' }, '/v1/agents'],
    ['of what says nothing of where it is from', { host: own.host, cookie }, '/v1/agents'],
    ['at another door', own, '/metrics'],
    ['at a door of a similar name', own, '/v1metrics'],
    ['of another port', { ...own, host: 'localhost:7421' }, '/v1/agents'],
    ['of another session', { ...own, cookie: `dormouse_session_7420=${'cd'.repeat(32)}` }, '/v1/agents'],
    ['that is no secret', { ...own, cookie: `dormouse_session_7420=${open}${open}` }, '/v1/agents'],
    ['that is huge', { ...own, cookie: `dormouse_session_7420=${'a'.repeat(16_000)}` }, '/v1/agents'],
    ['beside a wrong key', { ...own, authorization: 'Bearer wrong' }, '/v1/agents'],
  ])('K5 does not count %s', async (_what, headers, url) => {
    await expect(identified(headers, undefined, url)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('K5 gives way to a key', async () => {
    expect(await identified({ ...own, authorization: 'Bearer right' })).toMatchObject({ name: 'ci' });
  });
});

describe('an origin elsewhere', () => {
  it('is admitted when it is listed, and else the refusal names the setting', () => {
    const listed = parseAllowedOrigins('https://app.example.com').origins;
    const origins = createTenantOrigins(listed, { tenants: { list: () => Promise.reject(new Error()) }, clock });
    const open = createDoorkeeper(ingress, { ...settings, origins });
    expect(codeOf(() => open.admit({ host: 'localhost', origin: 'https://app.example.com' }))).toBeNull();
    expect(() => open.admit({ host: 'localhost', origin: 'https://evil.example' })).toThrow('DORMOUSE_ALLOWED_ORIGINS');
  });
});

describe('what a caller may', () => {
  const credential = { tenant: acme, grant: null, keys: [] };
  const key: Caller = {
    ...{ tenant: acme, name: 'ci', scopes: ['read', 'threads:write'], rate: {}, only: null, agents: null },
    ...{ credential, by },
  };
  const token: Caller = {
    tenant: acme,
    name: 'ann',
    scopes: [],
    rate: {},
    only: { ...grant, can: ['read', 'message'] },
    agents: null,
    credential,
    by,
  };
  const family: Caller = { ...token, only: { ...grant, family: 'thr_1' } };
  const refusal = async (...asked: Parameters<typeof door.authorize>): Promise<string | null> =>
    door.authorize(...asked).then(
      () => null,
      (problem: unknown) => (problem instanceof HttpProblem ? problem.code : 'another error'),
    );
  const refusals = (caller: Caller, thread: string): Promise<readonly (string | null)[]> =>
    Promise.all([threadReader, talker, answerer, admin].map((access) => refusal(caller, access, thread)));

  it('is what its scopes say, for a key', async () => {
    expect(await refusals(key, 'thr_9')).toEqual([null, null, 'FORBIDDEN', 'FORBIDDEN']);
  });

  it('is what it can, in its own thread, for a token', async () => {
    expect(await refusals(token, 'thr_1')).toEqual([null, null, 'FORBIDDEN', 'FORBIDDEN']);
    expect(await refusal(token, threadReader, 'thr_2')).toBe('FORBIDDEN');
    expect(await refusal(token, threadReader, 'thr_child')).toBe('FORBIDDEN');
    expect(await refusal(token, threadReader, undefined)).toBe('FORBIDDEN');
  });

  it('is what it can, in its whole family, for a token of a family (K6)', async () => {
    expect(await refusals(family, 'thr_child')).toEqual([null, 'FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN']);
    expect(await refusal(family, threadReader, 'thr_2')).toBe('FORBIDDEN');
  });

  it('is decided by the handler where the path names no thread (K6)', async () => {
    const later = { ...threadReader, thread: 'found_later' } as const;
    expect(await refusal(token, later, undefined)).toBeNull();
    expect(await refusal(token, { ...answerer, thread: 'found_later' }, undefined)).toBe('FORBIDDEN');
    await expect(mayOpen(ingress, token, 'thr_2')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(mayOpen(ingress, token, 'thr_1')).resolves.toBeUndefined();
    await expect(mayOpen(ingress, key, 'thr_2')).resolves.toBeUndefined();
  });
});

describe('a tenant, the platform and agents', () => {
  const refusalOf = async (asked: Promise<unknown>): Promise<string | null> =>
    asked.then(
      () => null,
      (problem: unknown) => (problem instanceof HttpProblem ? `${problem.code} ${problem.message}` : 'another error'),
    );
  const right = { authorization: 'Bearer right' };
  const platform = createDoorkeeper(ingress, { ...settings, platformKey: 'platform-key' });
  const asPlatform = { url: '/v1/tenants', headers: { authorization: 'Bearer platform-key' } };

  it.each(['suspended', 'deleting', 'deleted'] as const)('K7 lets nobody in for one that is %s', async (state) => {
    standing = newTenant(acme, 0, { state });
    expect(await refusalOf(identified(right))).toContain('TENANT_SUSPENDED');
    expect(await refusalOf(identified({ authorization: 'Bearer dtt_right' }))).toContain('TENANT_SUSPENDED');
    standing = newTenant(acme, 0);
    expect(await refusalOf(identified(right))).toBeNull();
    standing = null;
  });

  it('K7 lets pages of an origin in for the tenant that lists it, and for no other', async () => {
    const origin = 'https://app.acme.example';
    const owner = newTenant(acme, 0, { origins: [origin] });
    const tenants = { list: async () => ({ data: [owner], nextCursor: null }) };
    const origins = createTenantOrigins(parseAllowedOrigins('').origins, { tenants, clock });
    const open = createDoorkeeper(ingress, { ...settings, origins });
    await origins.look(origin);
    expect(codeOf(() => open.admit({ host: 'localhost', origin }))).toBeNull();
    expect(codeOf(() => open.admit({ host: 'localhost', origin: 'https://evil.example' }))).toBe('FORBIDDEN');
    const asked = { url: '/v1/agents', headers: { ...right, origin } };
    standing = owner;
    expect(await refusalOf(open.identify(asked))).toBeNull();
    standing = newTenant(acme, 0);
    expect(await refusalOf(open.identify(asked))).toContain('DORMOUSE_ALLOWED_ORIGINS');
    standing = null;
  });

  it('K8 gives the platform key the tenants and nothing else, and no other key a tenant', async () => {
    const caller = await platform.identify(asPlatform);
    expect(await refusalOf(platform.authorize(caller, 'platform', 'acme'))).toBeNull();
    for (const access of [threadReader, talker, admin])
      expect(await refusalOf(platform.authorize(caller, access, 'thr_1'))).toContain('FORBIDDEN The platform key');
    const key = await platform.identify({ url: '/v1/tenants', headers: right });
    expect(await refusalOf(platform.authorize(key, 'platform', 'acme'))).toContain('with the platform key.');
    expect(await refusalOf(door.authorize(key, 'platform', 'acme'))).toContain('DORMOUSE_PLATFORM_KEY');
    expect(await refusalOf(door.identify(asPlatform))).toContain('UNAUTHENTICATED');
  });

  it('K10 gives what concerns the installation to keys of its own tenant only', async () => {
    const whole = { ...admin, ofInstallation: true } as const;
    const of = (tenant: TenantId): Caller => ({
      ...{ tenant, name: 'ops', scopes: ['tenant:admin'], rate: {}, only: null, agents: null },
      credential: { tenant, grant: null, keys: [] },
      by,
    });
    expect(await refusalOf(door.authorize(of(tenantId('local')), whole, undefined))).toBeNull();
    expect(await refusalOf(door.authorize(of(acme), whole, undefined))).toContain('FORBIDDEN This is about');
  });

  it('K9 finds threads of its agents only, for a key for some', async () => {
    const credential = { tenant: acme, grant: null, keys: [] };
    const key: Caller = {
      ...{ tenant: acme, name: 'ci', scopes: ['tenant:admin'], rate: {}, only: null, agents: ['support'] },
      ...{ credential, by },
    };
    for (const access of [threadReader, talker, answerer, admin]) {
      expect(await refusalOf(door.authorize(key, access, 'thr_1'))).toBeNull(); // tenant:admin includes the others
      expect(await refusalOf(door.authorize(key, access, 'thr_none'))).toBeNull(); // the handler does not find it
      expect(await refusalOf(door.authorize(key, access, 'thr_9'))).toContain('NOT_FOUND');
    }
    expect(await refusalOf(door.authorize(key, { ...admin, ofAllAgents: true }, undefined))).toContain('some agents');
  });
});

describe('a dependency that fails', () => {
  const away = () => Promise.reject(new Fault('UNAVAILABLE', 'away'));
  const token = { authorization: 'Bearer dtt_right' };
  const right = { authorization: 'Bearer right' };
  const own = { host: 'localhost:7420', cookie: `dormouse_session_7420=${open}`, 'sec-fetch-site': 'same-origin' };
  const identities: IdentityTokens = { isOne: (credential) => credential.startsWith('jwt-'), read: away };

  it.each([
    ['keys', right, { keys: { ...ingress.keys, look: away } }],
    ['revocations of tokens', token, { tokens: { ...ingress.tokens, verify: away } }],
    ['sessions', own, { sessions: { ...ingress.sessions, authenticate: away } }],
    ['records of tenants', right, { tenantRecords: { ...ingress.tenantRecords, of: away } }],
    ['keys of the identity provider', { authorization: 'Bearer jwt-good' }, {}],
  ] as const)('K2 lets nobody in: %s', async (_what, headers, failing) => {
    const closed = createDoorkeeper({ ...ingress, ...failing }, { ...settings, identities });
    await expect(closed.identify({ url: '/v1/agents', headers })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    ['families of tokens', { tokens: { ...ingress.tokens, opens: away } }, { only: grant, agents: null }],
    ['agents of threads', { agentOf: away }, { only: null, agents: ['support'] }],
  ] as const)('K2 opens no thread: %s', async (_what, failing, more) => {
    const closed = createDoorkeeper({ ...ingress, ...failing }, settings);
    const credential = { tenant: acme, grant: null, keys: [] };
    const caller: Caller = { ...{ tenant: acme, name: 'x', scopes: ['read'], rate: {}, credential, by }, ...more };
    await expect(closed.authorize(caller, threadReader, 'thr_1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('K11 leaves a refusal a refusal: the audit', async () => {
    const audit = { record: away } as never;
    const closed = createDoorkeeper({ ...ingress, audit }, settings);
    const caller = await closed.identify({ url: '/v1/agents', headers: right });
    await expect(closed.authorize(caller, admin, undefined)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const ended = { url: '/v1/agents', headers: { authorization: 'Bearer ended' } };
    await expect(closed.identify(ended)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('a token of the identity provider', () => {
  const reading = {
    good: { tenant: acme, subject: 'sub-1', userId: 'ann', scopes: ['read'], expiresAt: 9e12 },
    elsewhere: { tenant: tenantId('nowhere'), subject: 'sub-1', userId: null, scopes: ['read'], expiresAt: 9e12 },
  } as const;
  const identities: IdentityTokens = {
    isOne: (credential) => credential.startsWith('jwt-'),
    read: async (token) => {
      const refused = { tenant: acme, subject: 'sub-1', why: 'expired' } as const;
      if (token === 'jwt-expired') return { identity: null, refused };
      const identity = token === 'jwt-good' ? reading.good : token === 'jwt-elsewhere' ? reading.elsewhere : null;
      return { identity, refused: null };
    },
  };
  const ofTenant = async (tenant: string) => (tenant === 'acme' ? (standing ?? newTenant(acme, 0)) : null);
  const records = { ...ingress.tenantRecords, of: ofTenant };
  const open = createDoorkeeper({ ...ingress, tenantRecords: records }, { ...settings, identities });
  const asked = (token: string) =>
    open.identify({ url: '/v1/agents', headers: { authorization: `Bearer ${token}` }, ip: '192.0.2.1', id: 'req_1' });

  it('K12 stands for its subject and its user, until its end', async () => {
    expect(await asked('jwt-good')).toMatchObject({
      ...{ tenant: 'acme', name: 'ann', userId: 'ann', scopes: ['read'], only: null, agents: null },
      credential: { tenant: 'acme', grant: null, keys: [], endsAt: 9e12 },
      by: { actor: 'oidc:sub-1', from: '192.0.2.1', requestId: 'req_1' },
    });
  });

  it.each(['jwt-elsewhere', 'jwt-forged'])('K12 is refused as any other: %s', async (token) => {
    audited.length = 0;
    await expect(asked(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(audited).toEqual([]);
  });

  it('K11 that is signed and over leaves a row, once', async () => {
    audited.length = 0;
    for (let times = 0; times < 2; times += 1)
      await expect(asked('jwt-expired')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(audited).toMatchObject([{ tenant: 'acme', actor: 'oidc:sub-1', action: 'auth.failed', outcome: 'expired' }]);
  });

  it('K7 has no caller while its tenant is suspended', async () => {
    standing = newTenant(acme, 0, { state: 'suspended' });
    await expect(asked('jwt-good')).rejects.toMatchObject({ code: 'TENANT_SUSPENDED' });
    standing = null;
  });

  it('K12 is none where no provider is set: it is looked up among keys', async () => {
    await expect(identified({ authorization: 'Bearer jwt-good' })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await open.identify({ url: '/v1/agents', headers: { authorization: 'Bearer right' } })).toMatchObject({
      name: 'ci',
    });
  });
});

describe('what the door writes into the audit', () => {
  const from = { url: '/v1/agents', ip: '192.0.2.1', id: 'req_1' };

  it('K11 is what a key was refused, and the use of one that has ended, once', async () => {
    const caller = await door.identify({ ...from, headers: { authorization: 'Bearer right' } });
    audited.length = 0;
    const access = { scope: 'tenant:admin', ability: null } as const;
    await expect(door.authorize(caller, access, undefined)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    for (const key of ['ended', 'ended', 'wrong'])
      await expect(door.identify({ ...from, headers: { authorization: `Bearer ${key}` } })).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      });
    const who = { tenant: 'acme', target: null, from: '192.0.2.1', requestId: 'req_1' };
    expect(audited).toEqual([
      {
        ...{ ...who, actor: record.id, action: 'auth.forbidden' },
        outcome: 'This key lacks the scope tenant:admin.',
      },
      { ...who, actor: 'key_0', action: 'auth.failed', outcome: 'revoked' },
    ]);
  });

  it('K11 is a bounded part of what one credential is refused, and not less of what others are', async () => {
    const caller = await door.identify({ ...from, headers: { authorization: 'Bearer right' } });
    audited.length = 0;
    const access = { scope: 'tenant:admin', ability: null } as const;
    const refuse = async (actor: string): Promise<void> => {
      const by = { ...caller.by, actor };
      await expect(door.authorize({ ...caller, by }, access, undefined)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    };
    for (let times = 0; times < 1_000; times += 1) await refuse('user:flooding');
    await refuse('user:other');
    const rowsOf = (name: string): number => audited.filter((row) => (row as { actor: string }).actor === name).length;
    expect([rowsOf('user:flooding'), rowsOf('user:other')]).toEqual([60, 1]);
  });
});
