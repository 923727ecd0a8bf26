// The quotas of tenants over the API: at its limit what is new is refused, and what is there goes on.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import { driveToolServer } from './driven-tool-server.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

const platformKey = 'platform-key-of-the-quotas';
let at: System;
beforeAll(async () => {
  at = await startSystem({
    DORMOUSE_PLATFORM_KEY: platformKey,
    DORMOUSE_MODEL_PRICES: 'scripted=1000000000:1000000000',
  });
});
afterAll(endSystems);

const platform = (method: string, path: string, body?: unknown): Promise<Answer> =>
  at.request(method, `/v1/tenants${path}`, body, { key: platformKey });

interface Tenant extends System {
  readonly id: string;
  quotas(quotas: object): Promise<void>;
}

let made = 0;

async function tenant(quotas: object = {}): Promise<Tenant> {
  made += 1;
  const id = `quota-${made}`;
  const answer = await platform('POST', '', { id, quotas });
  if (answer.status !== 201) throw new Error(`tenant: ${answer.status} ${answer.text}`);
  const { key } = answer.json;
  return {
    ...{ ...at, id, key },
    request: (method, path, body, sent) => at.request(method, path, body, { key, ...sent }),
    quotas: async (changed) => void (await platform('PATCH', `/${id}`, { quotas: changed })),
  };
}

const problemOf = ({ status, json }: Answer): readonly unknown[] => [status, json.code, json.detail];
const usedUp = (name: string): readonly unknown[] => [
  ...[409, 'QUOTA_EXCEEDED'],
  expect.stringContaining(`quota ${name} is used up`),
];

/** The first answer that is none of these. Counts of other processes lag by seconds. */
const untilRefused = (ask: () => Promise<Answer>): Promise<Answer> =>
  eventually(async () => {
    const answer = await ask();
    return answer.status >= 400 && answer;
  });

const answering = (own: System, ...script: readonly (readonly Json[])[]): Promise<string> =>
  scriptedAgent(own, script.length === 0 ? [[{ text: 'fine' }]] : script, { tool_servers: [] });

const typesOf = async (own: System, thread: string): Promise<readonly string[]> =>
  (await eventsOf(own, thread)).map(({ type }) => type);

describe.each([
  ['tokens_per_day_max', 'tokens_per_day_tenant'],
  ['cost_micros_per_day_max', 'cost_per_day_tenant'],
])('%s', (quota, budget) => {
  it('refuses messages once it is used up; a running thread asks nothing more, and goes on with a retry', async () => {
    const own = await tenant({ [quota]: 1 });
    const tools = await driveToolServer(own);
    const script = [[{ tool_call: { name: 'work' } }], [{ text: 'done' }]];
    const agent = await scriptedAgent(own, script, { tool_servers: [tools.name] });
    const thread = await openThread(own, agent);
    await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' }); // nothing is used yet
    const invocation = await tools.invocation(0);
    const post = (): Promise<Answer> => own.request('POST', `/v1/threads/${thread}/messages`, { text: 'more' });
    expect(problemOf(await untilRefused(post))).toEqual(usedUp(quota));
    expect(problemOf(await own.request('POST', '/v1/threads', { agent, message: { text: 'hello' } }))).toEqual(
      usedUp(quota),
    );
    expect(await tools.send(invocation, { type: 'tool_result', text: 'it is done' })).toBe(200);
    const exceeded = await untilEvent(own, thread, 'budget_exceeded');
    expect(exceeded).toMatchObject({ budget, limit: 1 });
    expect(exceeded.used).toBeGreaterThanOrEqual(1);
    await own.quotas({ [quota]: 1_000_000_000 });
    await eventually(async () => {
      await own.request('POST', `/v1/threads/${thread}/retry`);
      return (await typesOf(own, thread)).filter((type) => type === 'completion_recorded').length === 2;
    });
    await eventually(async () => (await post()).status === 202); // each process hears of the quota by itself
    expect((await say(own, thread, 'again')).status).toBe('idle');
    await tools.close();
  });
});

describe('threads_max', () => {
  it('counts open threads; the same request again is answered as before, and a closed thread makes room', async () => {
    const own = await tenant({ threads_max: 2 });
    const agent = await answering(own);
    const open = (more: object = {}): Promise<Answer> => own.request('POST', '/v1/threads', { agent, ...more });
    const [first] = [(await open({ external_id: 'one' })).json.id as string];
    const atOnce = await Promise.all([open(), open(), open()]);
    expect(atOnce.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(problemOf(await open())).toEqual(usedUp('threads_max'));
    const again = await open({ external_id: 'one', if_exists: 'return' });
    expect([again.status, again.json.id]).toEqual([200, first]);
    await untilStatus(own, first, 'idle'); // before that its log may have no position to fork at
    const fork = await own.request('POST', `/v1/threads/${first}/fork`, '{"position": 1, "then": "wait"}');
    expect(problemOf(fork)).toEqual(usedUp('threads_max'));
    expect((await say(own, first, 'hello')).status).toBe('idle'); // what is there goes on
    await own.quotas({ threads_max: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // in force everywhere
    await own.request('POST', `/v1/threads/${first}/close`);
    await untilStatus(own, first, 'closed');
    expect(problemOf(await open())).toEqual(usedUp('threads_max')); // one is open still
    await own.quotas({ threads_max: 2 });
    await eventually(async () => (await open()).status === 201);
  });
});

describe('tool_servers_max', () => {
  it('keeps no more of them than it says', async () => {
    const own = await tenant({ tool_servers_max: 2 });
    const add = (name: string): Promise<Answer> =>
      own.request('POST', '/v1/tool-servers', { name, base_url: `${at.url}/${name}` });
    expect([(await add('one')).status, (await add('two')).status]).toEqual([201, 201]);
    expect(problemOf(await add('three'))).toEqual(usedUp('tool_servers_max'));
    expect((await own.request('GET', '/v1/tool-servers')).json.data).toHaveLength(2);
    expect((await add('two')).status).toBe(200); // the same again
    await own.request('DELETE', '/v1/tool-servers/one');
    expect((await add('three')).status).toBe(201);
  });
});

describe('stored_bytes_max', () => {
  it('refuses what would store more, once it is used up', async () => {
    const own = await tenant({ stored_bytes_max: 200_000 });
    const agent = await answering(own);
    const thread = await openThread(own, agent);
    const text = 'x'.repeat(100_000);
    const post = (nth: number): Promise<Answer> =>
      own.request('POST', `/v1/threads/${thread}/messages`, { text: `${nth} ${text}` });
    for (const nth of [1, 2]) expect((await post(nth)).status).toBe(202);
    let nth = 2;
    expect(problemOf(await untilRefused(() => post((nth += 1))))).toEqual(usedUp('stored_bytes_max'));
    expect((await own.request('GET', `/v1/threads/${thread}`)).status).toBe(200);
  });

  it('refuses events and deliveries that would store more, also of threads that are open', async () => {
    const own = await tenant({ stored_bytes_max: 200_000 });
    const agent = await answering(own);
    const secret = 'a secret of the quotas';
    await own.request('PUT', '/v1/secrets/hook', { value: secret });
    const source = { name: 'hooks', kind: 'github', secret: 'hook', agent, key: '/key', message: '{{/text}}' };
    const path = new URL((await own.request('POST', '/v1/sources', source)).json.url).pathname;
    let nth = 0;
    const deliver = (size: number): Promise<Answer> => {
      const text = JSON.stringify({ key: 'one', text: 'x'.repeat(size) });
      const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
      const headers = { 'x-github-delivery': `delivery-${(nth += 1)}`, 'x-hub-signature-256': signature };
      return own.request('POST', path, text, { key: null, headers });
    };
    const first = await deliver(60_000);
    expect(first.status).toBe(202);
    expect(problemOf(await untilRefused(() => deliver(60_000)))).toEqual(usedUp('stored_bytes_max'));
    const event = { source: 'crm', text: 'x' };
    const told = await own.request('POST', `/v1/threads/${first.json.thread_id}/events`, event);
    expect(problemOf(told)).toEqual(usedUp('stored_bytes_max'));
    await own.quotas({ stored_bytes_max: null });
    await eventually(async () => (await deliver(10)).status === 202);
  });
});

describe('streams_max', () => {
  it('answers 429 with a Retry-After, until a stream has ended', async () => {
    const own = await tenant({ streams_max: 2 });
    const agent = await answering(own);
    const thread = await openThread(own, agent);
    const open = async () => {
      const closed = new AbortController();
      const response = await fetch(`${at.url}/v1/threads/${thread}/events`, {
        headers: { authorization: `Bearer ${own.key}`, accept: 'text/event-stream' },
        signal: closed.signal,
      });
      return { response, close: () => closed.abort() };
    };
    const streams = [await open(), await open()];
    expect(streams.map(({ response }) => response.status)).toEqual([200, 200]);
    const refused = (await open()).response;
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await refused.json()).toMatchObject({
      code: 'RATE_LIMITED',
      detail: expect.stringContaining('streams_max'),
    });
    streams[0]?.close();
    const next = await eventually(async () => {
      const found = await open();
      return found.response.status === 200 && found;
    });
    for (const each of [...streams, next]) each.close();
  });
});

describe('subscriptions_max', () => {
  it('ends a call with an error that would open one more', async () => {
    const own = await tenant({ subscriptions_max: 1 });
    const tools = await driveToolServer(own);
    const agent = await scriptedAgent(own, [[{ tool_call: { name: 'work' } }], [{ text: 'ok' }]], {
      tool_servers: [tools.name],
    });
    const subscribe = async (nth: number): Promise<Json> => {
      const thread = await openThread(own, agent);
      await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      await tools.send(await tools.invocation(nth), { type: 'tool_result', text: 'subscribed', subscription: true });
      return await untilEvent(own, thread, 'tool_call_settled');
    };
    expect(await subscribe(0)).toMatchObject({ outcome: 'result' });
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // how far a count may lag
    const second = await subscribe(1);
    expect([second.outcome, JSON.stringify(second.content)]).toEqual([
      'error',
      expect.stringContaining('as many subscriptions as it may'),
    ]);
    await tools.close();
  });
});
