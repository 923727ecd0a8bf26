// Signing in to the console, and what its cookie counts for, on both topologies.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { System } from './conversation.ts';
import type { Answer } from './standalone-process.ts';
import { endSystems, hasClock, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(endSystems);

type Headers = Readonly<Record<string, string>>;

const ownPage = { 'sec-fetch-site': 'same-origin' };

const ask = (method: string, path: string, headers: Headers, body?: unknown): Promise<Answer> =>
  at.request(method, path, body, { key: null, headers });

/** What the browser sends back. */
const cookieOf = ({ headers }: { readonly headers: Answer['headers'] }): string =>
  headers.get('set-cookie')?.split(';')[0] ?? '';

async function signIn(key: string): Promise<Headers> {
  const answer = await ask('POST', '/v1/session', ownPage, { key });
  expect(answer.status).toBe(201);
  return { cookie: cookieOf(answer) };
}

async function keyWith(scopes: readonly string[]): Promise<{ readonly id: string; readonly key: string }> {
  return (await at.request('POST', '/v1/api-keys', { name: 'laptop', scopes })).json;
}

/** A navigation to a link, which is not followed. */
const open = (url: string, headers: Headers = {}, method = 'GET'): Promise<Response> =>
  fetch(url, { method, headers, redirect: 'manual' });

async function link(): Promise<string> {
  const answer = await at.request('POST', '/v1/session/links');
  expect(answer.status).toBe(201);
  return answer.json.url;
}

describe('a session of the console', () => {
  it('is opened with a key, lives in a cookie that no script reads, and can do what the key can', async () => {
    const { key } = await keyWith(['read']);
    const answer = await ask('POST', '/v1/session', ownPage, { key });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^dormouse_session_\d+=[0-9a-f]{64}; Max-Age=\d+; Path=\/v1; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const session = { cookie: cookieOf(answer), ...ownPage };
    expect((await ask('GET', '/v1/session', session)).json).toMatchObject({ name: 'laptop', scopes: ['read'] });
    expect((await ask('GET', '/v1/agents', session)).status).toBe(200);
    const refused = await ask('POST', '/v1/threads', session, { agent: 'assistant' });
    expect([refused.status, refused.json.code]).toEqual([403, 'FORBIDDEN']);
    expect(answer.text + at.output()).not.toContain(cookieOf(answer).split('=')[1]);
  });

  it('opens and says, and its stream is read with the same cookie', async () => {
    const session = { ...(await signIn(at.key)), ...ownPage };
    const thread = await ask('POST', '/v1/threads', session, { agent: 'assistant' });
    expect(thread.status).toBe(201);
    const path = `/v1/threads/${thread.json.id}`;
    expect((await ask('POST', `${path}/messages`, session, { text: 'hello' })).status).toBe(202);
    expect((await ask('GET', `${path}/events`, session)).status).toBe(200);
  });

  it('is not opened with anything else', async () => {
    for (const key of ['wrong', `${at.key}x`, 'a'.repeat(64)])
      expect((await ask('POST', '/v1/session', ownPage, { key })).json.code).toBe('UNAUTHENTICATED');
    expect((await ask('POST', '/v1/session', ownPage, { key: at.key, more: 1 })).json.code).toBe('UNKNOWN_FIELD');
    expect((await ask('POST', '/v1/session', ownPage, { key: 'x'.repeat(10_000) })).status).toBe(413);
    const form = await ask('POST', '/v1/session', { ...ownPage, 'content-type': 'text/plain' }, `{"key":"${at.key}"}`);
    expect([form.status, form.headers.get('set-cookie')]).toEqual([415, null]);
  });

  it('counts for the pages of this server alone', async () => {
    const session = await signIn(at.key);
    const places: readonly Headers[] = [
      ...['cross-site', 'same-site', 'none', ''].map((from) => ({ 'sec-fetch-site': from })),
      {},
    ];
    for (const from of places) {
      const answer = await ask('POST', '/v1/threads', { ...session, ...from }, { agent: 'assistant' });
      expect([from, answer.status, answer.json.code]).toEqual([from, 401, 'UNAUTHENTICATED']);
    }
    const foreign = { ...session, ...ownPage, origin: 'https://evil.example' };
    expect((await ask('POST', '/v1/threads', foreign, { agent: 'assistant' })).status).toBe(403);
    expect((await ask('GET', '/v1/agents', { ...session, ...ownPage })).status).toBe(200);
  });

  it('is worth nothing at other doors, nor in another form', async () => {
    const session = await signIn(at.key);
    const secret = session['cookie']?.split('=')[1] ?? '';
    expect((await ask('GET', '/metrics', { ...session, ...ownPage })).status).not.toBe(200);
    expect((await at.request('GET', '/v1/agents', undefined, { key: secret })).status).toBe(401);
    expect((await ask('GET', `/v1/agents?access_token=${secret}`, ownPage)).status).toBe(401);
    expect((await ask('POST', '/v1/session/links', { ...session, ...ownPage })).status).toBe(403);
    for (const cookie of [`${session['cookie']}0`, 'dormouse_session', ';;=;', `x=${'y'.repeat(12_000)}`])
      expect((await ask('GET', '/v1/agents', { cookie, ...ownPage })).status).toBe(401);
  });

  it('ends when its page signs out, and no other page can do that', async () => {
    const session = await signIn(at.key);
    for (const site of ['cross-site', 'same-site'])
      expect((await ask('DELETE', '/v1/session', { ...session, 'sec-fetch-site': site })).status).toBe(403);
    expect((await ask('GET', '/v1/session', { ...session, ...ownPage })).status).toBe(200);
    const out = await ask('DELETE', '/v1/session', { ...session, ...ownPage });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    for (const path of ['/v1/session', '/v1/agents'])
      expect((await ask('GET', path, { ...session, ...ownPage })).status).toBe(401);
  });

  it('ends with its key, and is in no list of keys', async () => {
    const { id, key } = await keyWith(['read']);
    const session = { ...(await signIn(key)), ...ownPage };
    const keys = (await at.request('GET', '/v1/api-keys?limit=200')).json.data;
    expect(keys.filter(({ name }: { readonly name: string }) => name === 'laptop').length).toBeGreaterThan(0);
    expect(JSON.stringify(keys)).not.toMatch(/ses_|cod_/);
    expect((await at.request('DELETE', `/v1/api-keys/${id}`)).status).toBe(204);
    expect((await ask('GET', '/v1/agents', session)).status).toBe(401);
  });
});

describe('a link to the console', () => {
  it('opens it signed in, at an address without the code', async () => {
    const answer = await open(await link(), { 'sec-fetch-site': 'none' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const session = { cookie: cookieOf(answer), ...ownPage };
    expect((await ask('GET', '/v1/session', session)).json.scopes).toContain('tenant:admin');
  });

  it('works once, of many at once too', async () => {
    const url = await link();
    const answers = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      303, 410, 410, 410, 410,
    ]);
    const late = await open(url);
    expect([late.status, late.headers.get('set-cookie')]).toEqual([410, null]);
    expect(await late.text()).toContain('npx @dormouse/cli console');
    expect((await open(`${new URL(url).origin}/?code=${'a'.repeat(64)}`)).status).toBe(410);
  });

  it('is not used up by another site, a look at its head, or a browser that looks ahead', async () => {
    const url = await link();
    const looks = [
      open(url, { 'sec-fetch-site': 'cross-site' }),
      open(url, { 'sec-fetch-site': 'same-site' }),
      open(url, { 'sec-purpose': 'prefetch;prerender' }),
      open(url, {}, 'HEAD'),
    ];
    for (const answer of await Promise.all(looks))
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
    expect((await open(url)).status).toBe(303);
  });

  it('works for ten minutes', async (context) => {
    if (!hasClock) return context.skip('only standalone has a clock that can be moved');
    const [early, late] = [await link(), await link()];
    await at.request('POST', '/v1/dev/clock', { advance_ms: 590_000 });
    expect((await open(early)).status).toBe(303);
    await at.request('POST', '/v1/dev/clock', { advance_ms: 11_000 });
    const answer = await open(late);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([410, null]);
  });

  it('is made with a key alone, and is written nowhere', async () => {
    expect((await ask('POST', '/v1/session/links', {})).status).toBe(401);
    const url = await link();
    await open(url);
    expect(at.output()).not.toContain(new URL(url).searchParams.get('code'));
  });
});
