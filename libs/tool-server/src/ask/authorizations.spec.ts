import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Bench, bench, later, nextId, temporaryFolder } from '../spec/bench.ts';
import { quiet } from '../spec/callback-sink.ts';
import { type ProviderStub, startProvider } from '../spec/oauth-provider-stub.ts';
import { serve } from '../serve.ts';
import type { ServeOptions } from '../define/serve-options.ts';
import { defineTool, type Tool } from '../define/tool.ts';

const input = z.strictObject({ leak: z.boolean().default(false), discard: z.boolean().default(false) });

const calendarOf = (stub: ProviderStub): Tool =>
  defineTool(
    { name: 'calendar', description: 'Reads the calendar.', input, oauth: stub.provider, deadlineMs: 2_000 },
    async ({ leak, discard }, context) => {
      const authorization = await context.authorize();
      if (discard) authorization.discard();
      context.log(`got ${authorization.accessToken}`);
      return leak ? `my token is ${authorization.accessToken}` : 'two appointments';
    },
  );

async function calendar(options: Partial<ServeOptions> = {}): Promise<Bench & { stub: ProviderStub }> {
  const stub = await startProvider();
  later(stub.close);
  return { stub, ...(await bench({ tools: [calendarOf(stub)], ...options })) };
}

/** Calls the tool and returns what the user is shown. */
async function login(
  at: Bench,
  extra: Record<string, unknown> = {},
  given = {},
): Promise<{ id: string; authUrl: string }> {
  const before = at.sink.delivered.length;
  const id = await at.invoke('calendar', given, extra);
  const message = (await at.sink.until(before + 1))[before];
  const { callback } = message ?? {};
  if (callback?.type !== 'oauth') throw new Error(`not a login: ${message?.body}`);
  return { id, authUrl: callback.authUrl };
}

const status = async (url: string): Promise<number> => (await fetch(url)).status;

describe('a login', () => {
  it('T41 is asked for before anything is done, with PKCE and state, and ends in the result', async () => {
    const at = await calendar();
    const { id, authUrl } = await login(at, { call_id: 'p_1', group_id: 'thr_4' });
    expect(JSON.parse(at.sink.delivered[0]?.body ?? '')).toEqual({
      type: 'oauth',
      group_id: 'thr_4',
      id,
      call_id: 'p_1',
      auth_url: authUrl,
    });
    const parameters = Object.fromEntries(new URL(authUrl).searchParams);
    expect(parameters).toMatchObject({
      audience: 'all',
      response_type: 'code',
      client_id: 'client-1',
      redirect_uri: `${at.server.url}/oauth/callback`,
      scope: 'read',
      code_challenge_method: 'S256',
    });
    expect(await status(at.stub.visit(authUrl))).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe('two appointments');
    expect(at.stub.forms.map((form) => form.get('grant_type'))).toEqual(['authorization_code']);
  });

  it('T41 that was done once serves later calls of the same owner, and of nobody else', async () => {
    const at = await calendar();
    const { id, authUrl } = await login(at);
    await fetch(at.stub.visit(authUrl));
    await at.sink.resultOf(id);
    expect(await at.ask('calendar')).toBe('two appointments');
    expect(await at.ask('calendar', {}, { group_id: 'child', thread_ancestors: ['thr_1'] })).toBe('two appointments');
    expect((await login(at, { group_id: 'thr_2' })).authUrl).toContain('/authorize');
    expect((await login(at, { group_id: 'thr_3', user_id: 'thr_1' })).authUrl).toContain('/authorize');
  });

  it('T41 belongs to the user where the runtime has proved who it is', async () => {
    const at = await calendar({ auth: { bearer: 'correct-horse' } });
    const headers = { authorization: 'Bearer correct-horse' };
    const call = (extra: object): Record<string, unknown> => ({
      operation: 'calendar',
      arguments: {},
      id: nextId(),
      callback_url: at.sink.url,
      group_id: 'thr_1',
      user_id: 'ann',
      ...extra,
    });
    await at.post('/invoke', call({}), headers);
    const [message] = await at.sink.until(1);
    await fetch(at.stub.visit(String((JSON.parse(message?.body ?? '') as Record<string, unknown>)['auth_url'])));
    const other = call({ group_id: 'thr_2' });
    await at.sink.until(2);
    await at.post('/invoke', other, headers);
    expect((await at.sink.resultOf(String(other['id']))).text).toBe('two appointments');
    await at.post('/invoke', call({ user_id: 'bob' }), headers);
    expect((await at.sink.until(4))[3]?.callback.type).toBe('oauth');
  });

  it('T41 that is denied ends in an error result', async () => {
    const at = await calendar();
    const { id, authUrl } = await login(at);
    expect(await status(at.stub.visit(authUrl, 'deny'))).toBe(200);
    expect((await at.sink.resultOf(id)).text).toMatch(/^Error: Toy: access was not granted/);
    expect(at.stub.forms).toEqual([]);
  });

  it('T41 with a state that is forged, replayed or expired is rejected', async () => {
    const at = await calendar({ limits: { loginMsMax: 200 } });
    const { id, authUrl } = await login(at);
    const back = new URL(at.stub.visit(authUrl));
    const forged = new URL(back);
    forged.searchParams.set('state', 'forged');
    expect(await status(forged.href)).toBe(400);
    expect(await status(`${at.server.url}/oauth/callback?code=x`)).toBe(400);
    expect(at.stub.forms).toEqual([]);
    expect(await status(back.href)).toBe(200);
    expect(await status(back.href)).toBe(400);
    expect(at.stub.forms.length).toBe(1);
    await at.sink.resultOf(id);
    const late = await login(at, { group_id: 'thr_2' });
    expect((await at.sink.resultOf(late.id)).text).toMatch(/^Error: nobody has logged in at Toy/);
    expect(await status(at.stub.visit(late.authUrl))).toBe(400);
  });

  it('T41 with a code that the provider does not take ends in an error result', async () => {
    const at = await calendar();
    const { id, authUrl } = await login(at);
    const back = new URL(at.stub.visit(authUrl));
    back.searchParams.set('code', 'code-of-somebody-else');
    expect(await status(back.href)).toBe(502);
    expect((await at.sink.resultOf(id)).text).toBe(
      'Error: the login at Toy failed (refused). Call again to start a new one.',
    );
  });

  it.each([
    ['a status of the 3xx', 307, 'unreachable'],
    ['a status of the 4xx', 401, 'refused'],
    ['a status of the 5xx', 503, 'unreachable'],
  ])('T41 T42 that the token endpoint answers with %s ends in an error result', async (_kind, failure, outcome) => {
    const at = await calendar();
    const { id, authUrl } = await login(at);
    at.stub.failures.push(failure);
    expect(await status(at.stub.visit(authUrl))).toBe(502);
    expect((await at.sink.resultOf(id)).text).toContain(`the login at Toy failed (${outcome})`);
    expect(at.stub.forms.length).toBe(1);
  });

  it.each([
    ['null for what is absent', { refresh_token: null, expires_in: null, scope: null }],
    ['no token type', { token_type: undefined }],
    ['a token type of its own', { token_type: 'bot', scope: 'write read' }],
    ['an id_token that is not used', { id_token: 'e30.e30.', expires_in: 3_600 }],
    ['a lifetime as text', { expires_in: '3600' }],
  ])('T41 is good when the provider answers with %s', async (_kind, fields) => {
    const at = await calendar();
    at.stub.fields = fields;
    const { id, authUrl } = await login(at);
    expect(await status(at.stub.visit(authUrl))).toBe(200);
    expect((await at.sink.resultOf(id)).text).toBe('two appointments');
    expect(await at.ask('calendar')).toBe('two appointments');
    expect(at.stub.forms.length).toBe(1);
  });

  it.each([{ access_token: '' }, { access_token: 7 }, { access_token: null }, { scope: 1 }])(
    'T41 is refused when the answer is no token response: %j',
    async (fields) => {
      const at = await calendar();
      at.stub.fields = fields;
      const { id, authUrl } = await login(at);
      expect(await status(at.stub.visit(authUrl))).toBe(502);
      expect((await at.sink.resultOf(id)).text).toContain('failed (refused)');
    },
  );

  it('T41 serves every call that waits for it', async () => {
    const at = await calendar();
    const one = await login(at);
    const two = await login(at);
    await fetch(at.stub.visit(two.authUrl));
    expect((await at.sink.resultOf(one.id)).text).toBe('two appointments');
    expect((await at.sink.resultOf(two.id)).text).toBe('two appointments');
  });

  it('T41 is not asked over an address that others could listen to', async () => {
    const stub = await startProvider();
    later(stub.close);
    const provider = { ...stub.provider, allowInsecureLoopback: false };
    await expect(serve({ name: 'x', tools: [calendarOf({ ...stub, provider })], log: () => {} })).rejects.toThrow(
      'must be https',
    );
    const elsewhere = { ...stub.provider, authorizationEndpoint: 'http://login.example.test/authorize' };
    const tools = [calendarOf({ ...stub, provider: elsewhere })];
    await expect(serve({ name: 'x', tools, log: () => {} })).rejects.toThrow('must be https');
  });
});

describe('a token', () => {
  it('T42 is announced in the manifest', async () => {
    const at = await calendar();
    const manifest = await (await fetch(`${at.server.url}/.well-known/rap-toolset`)).json();
    expect(manifest).toMatchObject({ tools: [{ annotations: { requiresAuth: 'Toy' } }] });
    expect(JSON.stringify(manifest)).toContain('Needs a login at Toy');
  });

  it('T42 is in no message, no log and no file, and neither are codes', async () => {
    const dataDir = await temporaryFolder();
    const at = await calendar({ dataDir });
    at.stub.expiresIn = 3_600;
    const { id, authUrl } = await login(at, {}, { leak: true });
    await fetch(at.stub.visit(authUrl));
    expect((await at.sink.resultOf(id)).text).toBe('my token is [redacted]');
    const { id: failedId, authUrl: again } = await login(at, { group_id: 'thr_2' });
    at.stub.failures.push(500);
    await fetch(at.stub.visit(again));
    expect((await at.sink.resultOf(failedId)).text).toMatch(/^Error: .*unreachable/);
    const files = await Promise.all((await readdir(dataDir)).map((name) => readFile(join(dataDir, name), 'latin1')));
    const everywhere = [...at.log, ...at.sink.delivered.map((each) => each.body), ...files].join('\n');
    expect(at.stub.secrets.length).toBeGreaterThanOrEqual(3);
    for (const secret of at.stub.secrets) expect(everywhere).not.toContain(secret);
  });

  it('T42 is refreshed when it expires, and asked for again when that is refused or it was discarded', async () => {
    const at = await calendar();
    at.stub.expiresIn = 1; // less than the margin: expired at once
    const { id, authUrl } = await login(at);
    await fetch(at.stub.visit(authUrl));
    await at.sink.resultOf(id);
    expect(await at.ask('calendar')).toBe('two appointments');
    expect(at.stub.forms.map((form) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token']);
    at.stub.failures.push(503);
    expect(await at.ask('calendar')).toMatch(/^Error: Toy cannot be reached to renew the login/);
    at.stub.failures.push(400);
    at.stub.expiresIn = null;
    const second = await login(at);
    await fetch(at.stub.visit(second.authUrl));
    await at.sink.resultOf(second.id);
    expect(await at.ask('calendar', { discard: true })).toBe('two appointments');
    expect((await login(at)).authUrl).toContain('/authorize');
  });

  it('T42 T26 survives a restart, and so does a login that was begun', async () => {
    const dataDir = await temporaryFolder();
    const at = await calendar({ dataDir });
    const first = await login(at);
    await at.server.close();
    expect((await at.sink.resultOf(first.id)).text).toMatch(/^Error: the tool server was stopped/);
    const port = Number(new URL(at.server.url).port);
    const again = await bench({ tools: [calendarOf(at.stub)], dataDir, port });
    expect(await status(at.stub.visit(first.authUrl))).toBe(200);
    expect(await again.ask('calendar')).toBe('two appointments');
  });
});

describe('a call that waits for a login', () => {
  it('T41 T36 ends when it is cancelled, and the login is still good for the next one', async () => {
    const at = await calendar();
    const { id, authUrl } = await login(at);
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    await quiet(20);
    expect(await status(at.stub.visit(authUrl))).toBe(200);
    expect(await at.ask('calendar')).toBe('two appointments');
  });
});
