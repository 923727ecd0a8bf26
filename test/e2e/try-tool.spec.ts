// Trying a tool outside of every thread, and changes that depend on what their sender has seen, on both topologies.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedAgent, type System } from './conversation.ts';
import type { Answer, Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';

let at: System;
let tools: Server;
let called: Json[] = [];
/** How the server answers a call: a status, and what it posts to the callback URL. */
let behaviour: (call: Json) => { readonly status: number; readonly callbacks?: readonly Json[] };
const posted: number[] = [];
/** Where its manifest says that calls go; null for itself. */
let endpoint: string | null = null;

const manifest = (callUrl: string): Json => ({
  name: 'odd',
  endpoint: callUrl,
  tools: [
    {
      name: 'count',
      description: 'Counts.',
      inputSchema: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
    },
  ],
});

beforeAll(async () => {
  tools = createServer((request, response) => {
    void (async (): Promise<void> => {
      if (request.url === '/.well-known/rap-toolset') {
        const { port } = tools.address() as AddressInfo;
        response.setHeader('content-type', 'application/json');
        return void response.end(JSON.stringify(manifest(endpoint ?? `http://127.0.0.1:${port}/call`)));
      }
      const call: Json = await json(request);
      called.push({ ...call, headers: request.headers });
      const { status, callbacks = [] } = behaviour(call);
      response.statusCode = status;
      response.end();
      for (const callback of callbacks) {
        const sent = await fetch(call.callback_url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ group_id: call.group_id, ...callback }),
        });
        posted.push(sent.status);
      }
    })();
  });
  await new Promise<void>((listening) => tools.listen(0, '127.0.0.1', listening));
  at = await startSystem();
  const baseUrl = `http://127.0.0.1:${(tools.address() as AddressInfo).port}`;
  expect((await at.request('POST', '/v1/tool-servers', { name: 'odd', base_url: baseUrl })).status).toBe(201);
});
afterAll(async () => {
  await endSystems();
  tools.close();
  tools.closeAllConnections();
});

const tryTool = (server: string, operation: string, args: object): Promise<Answer> =>
  at.request('POST', `/v1/tool-servers/${server}/try`, { operation, arguments: args });

const threads = async (): Promise<number> => (await at.request('GET', '/v1/threads?limit=200')).json.data.length;

const result = (call: Json, text: string, more: object = {}): Json => ({
  type: 'tool_result',
  id: call.id,
  text,
  ...more,
});

describe('a tool that is tried', () => {
  it('answers with its result, and no thread knows of it', async () => {
    const before = await threads();
    const answer = await tryTool('example-tools', 'weather', { city: 'Oslo' });
    expect(answer).toMatchObject({ status: 200, json: { outcome: 'result', content: [{ type: 'text' }] } });
    expect(answer.json.content[0].text).toMatch(/Oslo/);
    expect(answer.json.latency_ms).toBeGreaterThanOrEqual(0);
    expect(await threads()).toBe(before);
  });

  it('is called once, with an id of its own, and the first answer counts', async () => {
    called = [];
    behaviour = (call) => ({ status: 202, callbacks: [result(call, 'one\u0007'), result(call, 'two')] });
    const answer = await tryTool('odd', 'count', { to: 3 });
    expect(answer.json).toMatchObject({ outcome: 'result', content: [{ type: 'text', text: 'one' }] });
    expect(called).toMatchObject([{ operation: 'count', arguments: { to: 3 } }]);
    expect(called[0].headers['idempotency-key']).toBe(called[0].id);
    expect((await at.request('GET', `/v1/threads/${called[0].group_id}`)).status).toBe(404);
  });

  it('may fail, open a subscription, or ask a person', async () => {
    behaviour = (call) => ({ status: 200, callbacks: [result(call, 'Error: no')] });
    expect((await tryTool('odd', 'count', { to: 1 })).json.outcome).toBe('error');
    behaviour = (call) => ({ status: 200, callbacks: [result(call, 'on it', { subscription: true })] });
    expect((await tryTool('odd', 'count', { to: 1 })).json.outcome).toBe('subscription');
    behaviour = (call) => ({
      status: 200,
      callbacks: [
        {
          type: 'user_choice',
          id: call.id,
          prompt: 'Which?',
          choices: ['a', 'b'],
          default: 0,
          response_url: 'https://x.example',
        },
      ],
    });
    expect((await tryTool('odd', 'count', { to: 1 })).json).toMatchObject({ outcome: 'choice', choices: ['a', 'b'] });
  });

  it('answers with what went wrong where it was not taken', async () => {
    behaviour = () => ({ status: 404 });
    const refused = (await tryTool('odd', 'count', { to: 1 })).json;
    expect(refused).toMatchObject({ outcome: 'error', content: [{ text: expect.stringContaining('404') }] });
    endpoint = 'http://169.254.169.254/call';
    const forbidden = (await tryTool('odd', 'count', { to: 1 })).json;
    endpoint = null;
    expect(forbidden).toMatchObject({
      outcome: 'error',
      content: [{ text: expect.stringContaining('OUTBOUND_FORBIDDEN') }],
    });
    await at.request('POST', '/v1/tool-servers/odd/pause');
    expect((await tryTool('odd', 'count', { to: 1 })).json.content[0].text).toContain('paused');
    await at.request('POST', '/v1/tool-servers/odd/resume');
  });

  it('is not called with what it does not take', async () => {
    called = [];
    const cases = [
      ['nothing', { to: 1 }, '/operation'],
      ['count', {}, '/arguments'],
      ['count', { to: 'three' }, '/arguments'],
    ] as const;
    for (const [operation, args, pointer] of cases) {
      const answer = await tryTool('odd', operation, args);
      expect([answer.status, answer.json.errors[0].pointer]).toEqual([422, pointer]);
    }
    expect((await tryTool('nobody', 'count', {})).status).toBe(404);
    expect(called).toEqual([]);
  });

  it('is tried by administrators alone', async () => {
    const scopes = ['read', 'threads:write', 'approvals:write'];
    const { key } = (await at.request('POST', '/v1/api-keys', { name: 'k', scopes })).json;
    const body = { operation: 'weather', arguments: { city: 'Oslo' } };
    expect((await at.request('POST', '/v1/tool-servers/example-tools/try', body, { key })).status).toBe(403);
  });

  it('has 30 seconds', async () => {
    behaviour = () => ({ status: 202 });
    const began = performance.now();
    const answer = await tryTool('odd', 'count', { to: 1 });
    expect(answer).toMatchObject({ status: 200, json: { outcome: 'timed_out' } });
    expect(performance.now() - began).toBeGreaterThan(20_000);
    const { callback_url: url, id, group_id: group } = called.at(-1);
    const late = JSON.stringify({ type: 'tool_result', id, group_id: group, text: 'late' });
    const headers = { 'content-type': 'application/json' };
    expect([200, 410]).toContain((await fetch(url, { method: 'POST', headers, body: late })).status);
  });
});

describe('a change with If-Match', () => {
  const change = (method: string, path: string, match: string, body?: unknown): Promise<Answer> =>
    at.request(method, path, body, { headers: { 'if-match': match } });
  const tagOf = ({ headers }: Answer): string => headers.get('etag') ?? '';

  it('is made to the version of an agent that its sender has seen', async () => {
    const name = await scriptedAgent(at, [[{ text: 'one' }]]);
    const first = tagOf(await at.request('GET', `/v1/agents/${name}`));
    const body = (text: string): object => ({
      ...{ name, model: { provider: 'scripted', parameters: { script: [[{ text }]] } } },
    });
    const made = await change('POST', '/v1/agents', first, body('two'));
    expect([made.status, made.json.version]).toEqual([201, 2]);
    expect(tagOf(made)).not.toBe(first);
    expect(tagOf(await at.request('GET', `/v1/agents/${name}/versions/1`))).toBe(first);
    const stale = await change('POST', '/v1/agents', first, body('three'));
    expect([stale.status, stale.json.code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect((await change('DELETE', `/v1/agents/${name}`, first)).status).toBe(412);
    const both = await Promise.all(
      ['four', 'five'].map((text) => change('POST', '/v1/agents', tagOf(made), body(text))),
    );
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 412]);
    expect((await change('POST', '/v1/agents', first, { ...body('x'), name: `${name}-new` })).status).toBe(412);
    expect((await change('DELETE', `/v1/agents/${name}`, '*')).status).toBe(204);
  });

  it('is made to the registration of a tool server that its sender has seen', async () => {
    const made = await at.request('POST', '/v1/tool-servers', { name: 'seen', base_url: 'https://tools.example' });
    const path = '/v1/tool-servers/seen';
    expect(tagOf(await at.request('GET', path))).toBe(tagOf(made));
    const changed = await change('PATCH', path, `"other", ${tagOf(made)}`, { forward_user_id: true });
    expect(changed.status).toBe(200);
    for (const [method, to, body] of [
      ['PATCH', path, { forward_user_id: false }],
      ['POST', `${path}/pause`, undefined],
      ['DELETE', path, undefined],
    ] as const) {
      const stale = await change(method, to, tagOf(made), body);
      expect([to, stale.status, stale.json.code]).toEqual([to, 412, 'PRECONDITION_FAILED']);
    }
    expect((await change('PATCH', path, `W/${tagOf(changed)}`, {})).status).toBe(412);
    expect((await change('DELETE', path, tagOf(changed))).status).toBe(204);
  });

  it('is not needed, and of two changes at once both are made', async () => {
    await at.request('POST', '/v1/tool-servers', { name: 'busy', base_url: 'https://tools.example' });
    const patches = [{ forward_user_id: true }, { trust_annotations: true }, { propagate_trace: 'none' }];
    await Promise.all(patches.map((patch) => at.request('PATCH', '/v1/tool-servers/busy', patch)));
    expect((await at.request('GET', '/v1/tool-servers/busy')).json).toMatchObject(Object.assign({}, ...patches));
  });
});

describe('a body with several faults', () => {
  it('is answered with all of them', async () => {
    const agent = {
      name: 'faulty',
      model: { provider: 'openai-compatible', name: 'm', api_key_secret: 'nothing' },
      tool_servers: ['nowhere', 'odd'],
    };
    const answer = await at.request('POST', '/v1/agents', agent);
    expect(answer.status).toBe(422);
    const pointers = answer.json.errors.map(({ pointer }: Json) => pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/model/base_url', '/model/api_key_secret', '/tool_servers/0']));
    const types = await at.request('POST', '/v1/agents', {
      name: '',
      model: { provider: 'demo', images: 1 },
      limits: 3,
    });
    expect(types.json.errors.map(({ pointer }: Json) => pointer).toSorted()).toEqual([
      '/limits',
      '/model/images',
      '/name',
    ]);
    const thread = (await at.request('POST', '/v1/threads', { agent: 'assistant' })).json.id;
    const schedule = { cron: 'x', time_zone: 'Nowhere/Zone', message: 'm' };
    const both = await at.request('POST', `/v1/threads/${thread}/schedules`, schedule);
    expect(both.json.errors.map(({ pointer }: Json) => pointer)).toEqual(['/cron', '/time_zone']);
  });
});
