// Tenants over the API: made with the platform key, suspended and resumed while their threads work, and deleted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformKey } from '../isolation/tenant-system.ts';
import { patienceMs } from '../patience.ts';
import { eventsOf, eventually, openThread, say, scriptedAgent, type System } from './conversation.ts';
import { driveToolServer } from './driven-tool-server.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
beforeAll(async () => {
  at = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
});
afterAll(endSystems);

const platform = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
  at.request(method, `/v1/tenants${path}`, body, { key: platformKey, headers });

let made = 0;

/** A tenant, as a system whose key is the tenant's first. */
async function tenant(more: object = {}): Promise<System & { readonly id: string }> {
  made += 1;
  const id = `tenant-${made}`;
  const answer = await platform('POST', '', { id, ...more });
  if (answer.status !== 201) throw new Error(`tenant: ${answer.status} ${answer.text}`);
  const { key } = answer.json;
  return { ...at, id, key, request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }) };
}

/** The status of an event stream, and a promise of its end. */
async function stream(path: string, key: string): Promise<{ readonly status: number; readonly ended: Promise<void> }> {
  const response = await fetch(at.url + path, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  });
  const ended = (async () => {
    const reader = response.body?.getReader();
    while (reader !== undefined && !(await reader.read()).done);
  })().catch(() => undefined);
  return { status: response.status, ended };
}

const endsSoon = (ended: Promise<void>): Promise<string> =>
  Promise.race([ended.then(() => 'ended'), new Promise<string>((resolve) => setTimeout(resolve, patienceMs, 'open'))]);

describe('the platform', () => {
  it('makes, shows, changes and lists tenants, and shows the first key once', async () => {
    const body = { id: 'acme', name: 'Acme, Inc.', quotas: { requests_per_s: 500 }, origins: ['https://acme.example'] };
    const first = await platform('POST', '', body, { 'idempotency-key': 'acme' });
    expect([first.status, Object.keys(first.json)]).toEqual([201, ['id', 'key']]);
    expect(first.headers.get('location')).toBe('/v1/tenants/acme');
    const again = await platform('POST', '', body, { 'idempotency-key': 'acme' });
    expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([first.json, 'true']);
    expect((await platform('POST', '', body)).status).toBe(409);
    const patched = await platform('PATCH', '/acme', { quotas: { threads_max: 7 }, weight: 2 });
    expect(patched).toMatchObject({
      status: 200,
      json: { state: 'active', weight: 2, quotas: { requests_per_s: 500, threads_max: 7, streams_max: 1_000 } },
    });
    expect((await platform('GET', '/acme')).json).toEqual(patched.json);
    const ids = (await platform('GET', '')).json.data.map(({ id }: Json) => id);
    expect(ids).toEqual(expect.arrayContaining(['acme', 'local']));
    expect((await platform('GET', '')).text).not.toContain(first.json.key);
    expect((await platform('GET', '/none')).status).toBe(404);
    for (const wrong of [
      { id: 'Acme' },
      { id: 'a b' },
      { id: 'x', weight: 0 },
      { id: 'x', origins: ['*'] },
      { id: 'x', state: 'active' },
    ])
      expect((await platform('POST', '', wrong)).status).toBe(422);
  });

  it('has a key for tenants alone, and no other key is good for them', async () => {
    const refused = await at.request('GET', '/v1/tenants');
    expect([refused.status, refused.json.code]).toEqual([403, 'FORBIDDEN']);
    const elsewhere = await at.request('GET', '/v1/agents', undefined, { key: platformKey });
    expect([elsewhere.status, elsewhere.json.detail]).toEqual([403, expect.stringContaining('platform key')]);
    expect((await at.request('GET', '/v1/tenants', undefined, { key: `${platformKey}x` })).status).toBe(401);
  });
});

describe('an origin', () => {
  it('of a tenant is good for credentials of that tenant, beside those of the installation', async () => {
    const origin = 'https://app.origins.example';
    const own = await tenant({ origins: [origin] });
    const preflight = { origin, 'access-control-request-method': 'GET' };
    await eventually(
      async () => (await fetch(`${at.url}/v1/agents`, { method: 'OPTIONS', headers: preflight })).status === 204,
    );
    const answer = await own.request('GET', '/v1/agents', undefined, { headers: { origin } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    const foreign = await at.request('GET', '/v1/agents', undefined, { headers: { origin } });
    expect([foreign.status, foreign.json.detail]).toEqual([403, expect.stringContaining('DORMOUSE_ALLOWED_ORIGINS')]);
  });
});

describe('a key', () => {
  it('is rerolled with an overlap, and revoked within a second, its open streams too', async () => {
    const own = await tenant();
    const made = (await own.request('POST', '/v1/api-keys', { name: 'ci', scopes: ['read'] })).json;
    const listed = (await own.request('GET', '/v1/api-keys')).json.data.find(({ id }: Json) => id === made.id);
    expect(listed).toMatchObject({ prefix: made.key.slice(0, 12), agents: null, revoked_at: null });
    const rerolled = await own.request('POST', `/v1/api-keys/${made.id}/reroll`, { overlap_s: 3_600 });
    expect(rerolled.status).toBe(201);
    for (const { key } of [made, rerolled.json])
      expect((await own.request('GET', '/v1/agents', undefined, { key })).status).toBe(200);
    const open = await stream('/v1/events', rerolled.json.key);
    expect(open.status).toBe(200);
    await own.request('DELETE', `/v1/api-keys/${rerolled.json.id}`);
    expect(await endsSoon(open.ended)).toBe('ended');
    expect((await own.request('GET', '/v1/agents', undefined, { key: rerolled.json.key })).status).toBe(401);
  });

  it('for some agents sees, opens and writes threads of these only', async () => {
    const own = await tenant();
    const agents = [await scriptedAgent(own, [[{ text: 'one' }]], { tool_servers: [] })];
    agents.push(await scriptedAgent(own, [[{ text: 'two' }]], { tool_servers: [] }));
    const [support, sales] = agents as [string, string];
    const scopes = ['read', 'threads:write', 'approvals:write'];
    const { key } = (await own.request('POST', '/v1/api-keys', { name: 'k', scopes, agents: [support] })).json;
    const limited: System = {
      ...own,
      request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }),
    };
    const mine = await openThread(limited, support);
    const other = await openThread(own, sales);
    await say(own, other, 'hello');
    await say(limited, mine, 'hello');
    expect((await limited.request('POST', '/v1/threads', { agent: sales })).status).toBe(404);
    for (const path of ['', '/events', '/messages', '/tool-calls', '/choices', '/commits'])
      expect((await limited.request('GET', `/v1/threads/${other}${path}`)).status).toBe(404);
    expect((await limited.request('POST', `/v1/threads/${other}/messages`, { text: 'x' })).status).toBe(404);
    expect((await stream(`/v1/threads/${other}/events`, key)).status).toBe(404);
    const threads = (await limited.request('GET', '/v1/threads')).json.data.map(({ id }: Json) => id);
    expect(threads).toEqual([mine]);
    const events = (await limited.request('GET', '/v1/events?limit=200')).json;
    expect(new Set(events.data.map(({ thread_id: id }: Json) => id))).toEqual(new Set([mine]));
    expect((await limited.request('GET', `/v1/events?after=${events.next_cursor}`)).json.data).toEqual([]);
    expect((await limited.request('GET', '/v1/usage')).status).toBe(403);
  });

  it('grants no agent that it is not for', async () => {
    const own = await tenant();
    const admin = { name: 'a', scopes: ['tenant:admin'], agents: ['support'] };
    const { key } = (await own.request('POST', '/v1/api-keys', admin)).json;
    const make = async (body: object): Promise<number> =>
      (await own.request('POST', '/v1/api-keys', { name: 'b', scopes: ['read'], ...body }, { key })).status;
    expect(await make({ agents: ['support'] })).toBe(201);
    expect(await make({})).toBe(403);
    expect(await make({ agents: ['support', 'sales'] })).toBe(403);
  });

  it('for some agents is not shown a thread of others by its external id', async () => {
    const own = await tenant();
    const agents = [await scriptedAgent(own, [[{ text: 'one' }]], { tool_servers: [] })];
    agents.push(await scriptedAgent(own, [[{ text: 'two' }]], { tool_servers: [] }));
    const [support, sales] = agents as [string, string];
    const made = { name: 'k', scopes: ['read', 'threads:write'], agents: [support] };
    const { key } = (await own.request('POST', '/v1/api-keys', made)).json;
    const open = (agent: string, more: object, sent = {}): Promise<Answer> =>
      own.request('POST', '/v1/threads', { agent, external_id: 'order-7', ...more }, sent);
    const other = await open(sales, { title: 'canary of sales', metadata: { canary: 'sales' } });
    expect(other.status).toBe(201);
    for (const if_exists of ['return', 'fail', null]) {
      const refused = await open(support, { if_exists }, { key });
      expect([refused.status, refused.json.code]).toEqual([409, 'ALREADY_EXISTS']);
      for (const hidden of ['canary', other.json.id]) expect(refused.text).not.toContain(hidden);
    }
    expect((await open(support, { if_exists: 'return' })).json.id).toBe(other.json.id);
  });

  it('for some agents is shown no answer that another key got, also with its Idempotency-Key', async () => {
    const own = await tenant();
    const admin = { name: 'a', scopes: ['tenant:admin'], agents: ['support'] };
    const { key } = (await own.request('POST', '/v1/api-keys', admin)).json;
    const headers = { 'idempotency-key': 'first' };
    const asked = { name: 'c', scopes: ['tenant:admin'] };
    const first = await own.request('POST', '/v1/api-keys', asked, { headers });
    const stolen = await own.request('POST', '/v1/api-keys', asked, { key, headers });
    expect([first.status, stolen.status, stolen.json.code]).toEqual([201, 422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(stolen.text).not.toContain(first.json.key);
    const again = await own.request('POST', '/v1/api-keys', asked, { headers });
    expect([again.json, again.headers.get('idempotency-replayed')]).toEqual([first.json, 'true']);
  });
});

describe('a suspended tenant', () => {
  it('has no callers and no streams; what tools send is taken, and what is owed is paid when it is resumed', async () => {
    const own = await tenant();
    const tools = await driveToolServer(own);
    const script = [[{ tool_call: { name: 'work' } }], [{ text: 'done' }]];
    const agent = await scriptedAgent(own, script, { tool_servers: [tools.name] });
    const thread = await openThread(own, agent);
    await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const invocation = await tools.invocation(0);
    const open = await stream(`/v1/threads/${thread}/events`, own.key);
    expect((await platform('PATCH', `/${own.id}`, { state: 'suspended' })).json.state).toBe('suspended');
    expect(await endsSoon(open.ended)).toBe('ended');
    const refused = await eventually(async () => {
      const answer = await own.request('GET', `/v1/threads/${thread}`);
      return answer.status === 403 && answer;
    });
    expect(refused.json.code).toBe('TENANT_SUSPENDED');
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // every process knows
    expect(await tools.send(invocation, { type: 'tool_result', text: 'it is done' })).toBe(200);
    expect((await at.request('GET', '/v1/agents')).status).toBe(200); // of another tenant
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await platform('PATCH', `/${own.id}`, { state: 'active' });
    await eventually(async () => (await own.request('GET', `/v1/threads/${thread}`)).json.status === 'idle');
    const events = await eventsOf(own, thread);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === 'completion_recorded')).toHaveLength(2);
    const [settled] = events.filter(({ type }) => type === 'tool_call_settled');
    const second = events.filter(({ type }) => type === 'completion_recorded').at(-1);
    expect(Date.parse(second.at) - Date.parse(settled.at)).toBeGreaterThan(1_000); // asked after it was resumed
    await tools.close();
  });
});

describe('a deleted tenant', () => {
  it('is suspended at once, erased in the background, and its id is never given again', async () => {
    const own = await tenant();
    const agent = await scriptedAgent(own, [[{ text: 'one' }]], { tool_servers: [] });
    const thread = await openThread(own, agent);
    await say(own, thread, 'hello');
    const removed = await platform('DELETE', `/${own.id}`);
    expect([removed.status, removed.json.state]).toEqual([202, 'deleting']);
    expect((await platform('PATCH', `/${own.id}`, { state: 'active' })).status).toBe(409);
    expect((await platform('POST', '', { id: own.id })).status).toBe(409);
    // Its key is erased with the rest.
    await eventually(async () => (await own.request('GET', '/v1/threads')).status === 401);
  });
});
