// What is taken away while it is used: a tenant’s permission to go on, a secret, a quota, the money of its day.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingModel, startRecordingModel } from '../conformance/recording-model.ts';
import {
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
} from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import type { Answer } from '../e2e/standalone-process.ts';
import { endSystems, startSystem } from '../e2e/system.ts';
import { answerWith, endReceivers, startReceiver } from '../e2e/webhook-receiver.ts';
import { platformKey, tenantOf } from './tenant-system.ts';

let root: System;
let model: RecordingModel;
beforeAll(async () => {
  root = await startSystem({ DORMOUSE_PLATFORM_KEY: platformKey });
  model = await startRecordingModel();
});
afterAll(async () => {
  await model.close();
  await endReceivers();
  await endSystems();
});

const change = async (id: string, body: object): Promise<void> => {
  const { status } = await root.request('PATCH', `/v1/tenants/${id}`, body, { key: platformKey });
  expect(status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // every process knows
};
const answering = (own: System): Promise<string> => scriptedAgent(own, [[{ text: 'fine' }]], { tool_servers: [] });
const problemOf = ({ status, json }: Answer): readonly unknown[] => [status, json.code];
const usedUp = [409, 'QUOTA_EXCEEDED'];

describe('a suspended tenant', () => {
  it('sends no webhook, and those that waited go when it is resumed', async () => {
    const own = await tenantOf(root, 'suspended-hooks');
    const receiver = await startReceiver(answerWith(500));
    const hook = { url: receiver.url, events: ['thread.idle'] };
    expect((await own.request('POST', '/v1/webhooks', hook)).status).toBe(201);
    const agent = await answering(own);
    const thread = await openThread(own, agent);
    await say(own, thread, 'hello');
    const [{ id }] = (await receiver.came(1)) as unknown as readonly [{ readonly id: string }];
    await change('suspended-hooks', { state: 'suspended' });
    const count = receiver.posts.length;
    receiver.answers(answerWith(204));
    await new Promise((resolve) => setTimeout(resolve, 8_000)); // the second attempt was due after five seconds
    expect(receiver.posts).toHaveLength(count);
    await change('suspended-hooks', { state: 'active' });
    expect((await receiver.came(count + 1)).at(-1)?.id).toBe(id);
  });
});

describe('a secret', () => {
  it('that a registration or an agent uses is not deleted', async () => {
    const own = await tenantOf(root, 'secret-in-use');
    const tools = await driveToolServer(own);
    await own.request('PUT', '/v1/secrets/of-tools', { value: 'v', origins: [tools.url] });
    const auth = { type: 'bearer', secret: 'of-tools' };
    expect((await own.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth })).status).toBe(200);
    expect(problemOf(await own.request('DELETE', '/v1/secrets/of-tools'))).toEqual([409, 'SECRET_IN_USE']);
    expect((await own.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth: null })).status).toBe(200);
    expect((await own.request('DELETE', '/v1/secrets/of-tools')).status).toBe(204);
    expect((await own.request('PATCH', `/v1/tool-servers/${tools.name}`, { auth })).status).toBe(422);
    await tools.close();
  });

  it('that an earlier version of an agent needs may go: its threads ask nothing without it, and say so', async () => {
    const own = await tenantOf(root, 'secret-of-before');
    const played = model.plays([[{ text: 'fine' }]]);
    const { origin } = new URL(String(played.model['base_url']));
    const key = { value: 'key-of-the-model', origins: [origin] };
    expect((await own.request('PUT', '/v1/secrets/of-model', key)).status).toBe(204);
    const agent = { name: 'versions', tool_servers: [] };
    const first = { ...agent, model: { ...played.model, api_key_secret: 'of-model' } };
    expect((await own.request('POST', '/v1/agents', first)).status).toBe(201);
    const thread = await openThread(own, 'versions');
    await say(own, thread, 'hello');
    expect(problemOf(await own.request('DELETE', '/v1/secrets/of-model'))).toEqual([409, 'SECRET_IN_USE']);
    await own.request('POST', '/v1/agents', { ...agent, model: { ...played.model, api_key_secret: null } });
    expect((await own.request('DELETE', '/v1/secrets/of-model')).status).toBe(204);
    const asked = played.prompts.length;
    await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'again' });
    const failed = await untilEvent(own, thread, 'completion_failed');
    expect(failed).toMatchObject({ code: 'MODEL_FAILED', detail: expect.stringContaining('of-model') });
    expect(played.prompts).toHaveLength(asked);
    await own.request('PUT', '/v1/secrets/of-model', key);
    await own.request('POST', `/v1/threads/${thread}/retry`);
    await eventually(async () => played.prompts.length > asked);
    await untilStatus(own, thread, 'idle');
  });
});

describe('a quota that is lowered below what is used', () => {
  it('ends nothing: what is there goes on, and what is new is refused until there is room', async () => {
    const own = await tenantOf(root, 'lowered');
    const tools = await driveToolServer(own);
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const agent = await scriptedAgent(own, script, { tool_servers: [tools.name] });
    const threads = await Promise.all(Array.from({ length: 4 }, () => openThread(own, agent)));
    const abort = new AbortController();
    const streams = await Promise.all(
      threads.map((thread) =>
        fetch(`${own.url}/v1/threads/${thread}/events`, {
          headers: { authorization: `Bearer ${own.key}`, accept: 'text/event-stream' },
          signal: abort.signal,
        }),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const quotas = { threads_max: 1, streams_max: 1, tool_servers_max: 0, subscriptions_max: 0 };
    const lowered = await root.request('PATCH', '/v1/tenants/lowered', { quotas }, { key: platformKey });
    expect(lowered.status, lowered.text).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // other processes know within three seconds
    expect(problemOf(await own.request('POST', '/v1/threads', { agent }))).toEqual(usedUp);
    const server = { name: 'another', base_url: 'https://tools.example.com' };
    expect(problemOf(await own.request('POST', '/v1/tool-servers', server))).toEqual(usedUp);
    const headers = { accept: 'text/event-stream' };
    expect((await own.request('GET', '/v1/events', undefined, { headers })).status).toBe(429);
    for (const [index, thread] of threads.entries()) {
      await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'work' });
      expect(await tools.send(await tools.invocation(index), { type: 'tool_result', text: 'done' })).toBe(200);
    }
    for (const thread of threads) await untilStatus(own, thread, 'idle');
    abort.abort();
    for (const thread of threads) await own.request('POST', `/v1/threads/${thread}/close`);
    await eventually(async () => (await own.request('POST', '/v1/threads', { agent })).status === 201);
    await tools.close();
  });
});

describe('a storm of deliveries and events', () => {
  it('stays within the day of its tenant: once that is used up, no model is asked', async () => {
    const own = await tenantOf(root, 'storm');
    const played = model.plays([[{ text: 'noted' }]]);
    const agent = { name: 'noting', model: { ...played.model, name: played.model['name'] }, tool_servers: [] };
    expect((await own.request('POST', '/v1/agents', agent)).status).toBe(201);
    await own.request('PUT', '/v1/secrets/hook', { value: 'secret-of-the-hook' });
    const source = { name: 'storm', kind: 'github', secret: 'hook', agent: 'noting', key: '/id', message: 'x {{/id}}' };
    const path = new URL((await own.request('POST', '/v1/sources', source)).json.url).pathname;
    const deliver = (delivery: number, id: number): Promise<Answer> => {
      const body = JSON.stringify({ id });
      const mac = createHmac('sha256', 'secret-of-the-hook').update(body).digest('hex');
      const headers = { 'x-github-delivery': `d-${delivery}`, 'x-hub-signature-256': `sha256=${mac}` };
      return root.request('POST', path, body, { key: null, headers });
    };
    const first = await deliver(0, 1);
    expect(first.status).toBe(202);
    const thread: string = first.json.thread_id;
    await untilStatus(own, thread, 'idle');
    await change('storm', { quotas: { tokens_per_day_max: 1 } });
    await eventually(async () => {
      const refused = await own.request('POST', `/v1/threads/${thread}/messages`, { text: 'more' });
      return refused.status === 409;
    });
    await untilStatus(own, thread, 'idle');
    const asked = played.prompts.length;
    const storm = await Promise.all(Array.from({ length: 100 }, (_, place) => deliver(place + 1, place % 5)));
    expect(storm.every(({ status }) => status === 202 || status === 409)).toBe(true);
    for (let place = 0; place < 50; place += 1) {
      const event = { source: 'crm', text: `event ${place}` };
      expect(problemOf(await own.request('POST', `/v1/threads/${thread}/events`, event))).toEqual(usedUp);
    }
    expect((await eventsOf(own, thread)).map(({ type }) => type)).not.toContain('external_event_received');
    expect(played.prompts).toHaveLength(asked);
  });
});
