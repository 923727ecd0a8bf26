// Webhooks to customers, over real HTTP: what is told, how it is signed, which endpoints are refused, and that one
// endpoint holds up no other. How deliveries are tried again is in webhook-retries.spec.ts.
import { createHmac } from 'node:crypto';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askingChild,
  eventsOf,
  eventually,
  openThread,
  say,
  scriptedAgent,
  type System,
  untilEvent,
  untilStatus,
} from './conversation.ts';
import type { Json } from './standalone-process.ts';
import { endSystems, startSystem } from './system.ts';
import {
  answerWith,
  endReceivers,
  hang,
  type Posted,
  startReceiver,
  type WebhookReceiver,
} from './webhook-receiver.ts';

const everything = [
  ...['thread.waiting', 'thread.idle', 'thread.failed', 'thread.closed'],
  ...['choice.requested', 'oauth.requested', 'child.opened', 'budget.exceeded'],
];

let at: System;
beforeAll(async () => {
  at = await startSystem();
});
afterAll(async () => {
  await endReceivers();
  await endSystems();
});

async function webhookTo({ url }: WebhookReceiver, more: object = {}): Promise<Json> {
  const made = await at.request('POST', '/v1/webhooks', { url, events: ['thread.idle'], ...more });
  expect(made.status, made.text).toBe(201);
  return made.json;
}

const deliveriesOf = async (id: string): Promise<readonly Json[]> =>
  (await at.request('GET', `/v1/webhooks/${id}/deliveries`)).json.data;

const typesOf = (posts: readonly Posted[], thread: string): readonly string[] =>
  posts.filter(({ body }) => body.data.thread_id === thread).map(({ body }) => body.type);

/** As Standard Webhooks say, by hand. */
function isSigned({ headers, text }: Posted, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], text].join('.');
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(signature);
}

const headersOf = ({ headers }: Posted): Record<string, string> => headers as Record<string, string>;

describe('a webhook', () => {
  it('is told that a thread is idle: once, signed, thin, and in the log of its deliveries', async () => {
    const receiver = await startReceiver();
    const { id, secret, ...webhook } = await webhookTo(receiver);
    expect(webhook).toMatchObject({
      url: receiver.url,
      events: ['thread.idle'],
      filter: null,
      state: 'active',
      problems: [],
    });
    expect(id).toMatch(/^whk_/);
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Lisbon?');
    const [posted] = await receiver.came(1);
    if (posted === undefined) throw new Error('nothing came');
    const { position } = (await eventsOf(at, thread)).at(-1);
    expect(posted.body).toEqual({
      type: 'thread.idle',
      timestamp: expect.any(String),
      data: { thread_id: thread, position },
    });
    expect(posted.body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(posted.path).toBe('/hooks?of=customer');
    expect(posted.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(new Standard(secret).verify(posted.text, headersOf(posted))).toEqual(posted.body);
    new Svix(secret).verify(posted.text, headersOf(posted)); // throws what does not verify
    expect(isSigned(posted, secret)).toBe(true);
    expect(() => new Svix(secret).verify(`${posted.text} `, headersOf(posted))).toThrow('No matching signature found');
    expect(() => new Svix(`whsec_${'A'.repeat(32)}`).verify(posted.text, headersOf(posted))).toThrow(
      'No matching signature found',
    );
    expect(Math.abs(Date.now() / 1_000 - Number(posted.headers['webhook-timestamp']))).toBeLessThan(300);
    const delivery = await eventually(async () => (await deliveriesOf(id)).find(({ state }) => state === 'delivered'));
    expect(delivery).toMatchObject({ id: posted.id, event: 'thread.idle', next_at: null });
    expect(delivery.attempts).toEqual([{ at: expect.any(String), status: 204, ms: expect.any(Number) }]);
    await say(at, thread, 'And in Oslo?');
    await receiver.came(2);
    expect(typesOf(receiver.posts, thread)).toEqual(['thread.idle', 'thread.idle']);
    expect(new Set(receiver.posts.map((each) => each.id)).size).toBe(2);
  });

  it('is told of waiting and questions, of children, failures and the end, once each', async () => {
    const receiver = await startReceiver();
    await webhookTo(receiver, { events: everything });
    const { parent, child, choice } = await askingChild(at);
    await eventually(async () => typesOf(receiver.posts, child).includes('choice.requested'));
    expect(receiver.posts.find(({ body }) => body.type === 'child.opened')?.body.data).toMatchObject({
      thread_id: parent,
      child_id: child,
    });
    expect(receiver.posts.find(({ body }) => body.type === 'choice.requested')?.body.data).toMatchObject({
      ...{ thread_id: child, choice_id: choice, kind: 'approval' },
    });
    const failing = await openThread(at, await scriptedAgent(at, [[{ fail: { status: 400 } }]], { tool_servers: [] }));
    await at.request('POST', `/v1/threads/${failing}/messages`, { text: 'fail' });
    await untilEvent(at, failing, 'completion_failed'); // before it began the thread was idle too
    await untilStatus(at, failing, 'idle');
    await at.request('POST', `/v1/threads/${failing}/close`);
    await eventually(async () => typesOf(receiver.posts, failing).length >= 3); // in the order in which they come
    expect(typesOf(receiver.posts, failing).toSorted()).toEqual(['thread.closed', 'thread.failed', 'thread.idle']);
    expect(receiver.posts.find(({ body }) => body.type === 'thread.failed')?.body.data.code).toBe('MODEL_FAILED');
    await eventually(async () => typesOf(receiver.posts, child).includes('thread.waiting'));
    const names = receiver.posts.map(({ body }) => `${body.data.thread_id} ${body.data.position} ${body.type}`);
    expect(new Set(names).size).toBe(names.length);
    expect(receiver.posts.map(({ text }) => text).join('\n')).not.toContain('Delete everything');
  });

  it('hears of the threads that its filter lets through, and of no others', async () => {
    const [byLabel, byAgent] = [await startReceiver(), await startReceiver()];
    const agent = await scriptedAgent(at, [[{ text: 'done' }]], { tool_servers: [] });
    await webhookTo(byLabel, { filter: { metadata: { customer: 'seven' } } });
    await webhookTo(byAgent, { filter: { agents: [agent] } });
    const other = await openThread(at, 'assistant', { metadata: { customer: 'eight' } });
    await say(at, other, 'Hello');
    const labelled = await openThread(at, 'assistant', { metadata: { customer: 'seven', more: 'x' } });
    await say(at, labelled, 'Hello');
    const ofAgent = await openThread(at, agent);
    await say(at, ofAgent, 'Hello');
    await Promise.all([byLabel.came(1), byAgent.came(1)]);
    const threadsOf = ({ posts }: WebhookReceiver) => posts.map(({ body }) => body.data.thread_id);
    expect([threadsOf(byLabel), threadsOf(byAgent)]).toEqual([[labelled], [ofAgent]]);
  });

  it('is signed with both secrets after a rotation, and shows none again', async () => {
    const receiver = await startReceiver();
    const { id, secret: before } = await webhookTo(receiver);
    const rotated = await at.request('POST', `/v1/webhooks/${id}/rotate`);
    expect(rotated.status).toBe(200);
    const { secret } = rotated.json;
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(before);
    const test = await at.request('POST', `/v1/webhooks/${id}/test`);
    expect(test.status).toBe(202);
    const [posted] = await receiver.came(1);
    if (posted === undefined) throw new Error('nothing came');
    expect(posted).toMatchObject({ id: test.json.id, body: { type: 'webhook.test', data: { webhook_id: id } } });
    for (const each of [secret, before]) new Svix(each).verify(posted.text, headersOf(posted));
    expect(posted.headers['webhook-signature']?.toString().split(' ')).toHaveLength(2);
    for (const path of ['/v1/webhooks', `/v1/webhooks/${id}`, `/v1/webhooks/${id}/deliveries`])
      expect((await at.request('GET', path)).text).not.toContain('whsec_');
  });

  it('can be sent a delivery again under the same id, and is sent nothing once it is deleted', async () => {
    const receiver = await startReceiver(answerWith(500, { 'webhook-delivery': 'abort-message' }));
    const { id } = await webhookTo(receiver);
    const { id: delivery } = (await at.request('POST', `/v1/webhooks/${id}/test`)).json;
    const aborted = await eventually(async () => (await deliveriesOf(id)).find(({ state }) => state === 'aborted'));
    expect(aborted).toMatchObject({ id: delivery, next_at: null, attempts: [{ status: 500 }] });
    receiver.answers(answerWith(200));
    expect((await at.request('POST', `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`)).status).toBe(202);
    const delivered = await eventually(async () => (await deliveriesOf(id)).find(({ state }) => state === 'delivered'));
    expect(delivered.attempts.map(({ status }: Json) => status)).toEqual([500, 200]);
    expect(receiver.posts.map((posted) => posted.id)).toEqual([delivery, delivery]);
    const later = await startReceiver();
    await webhookTo(later);
    expect((await at.request('DELETE', `/v1/webhooks/${id}`)).status).toBe(204);
    expect((await at.request('GET', `/v1/webhooks/${id}`)).status).toBe(404);
    const thread = await openThread(at);
    await say(at, thread, 'Hello');
    await later.came(1);
    expect(receiver.posts).toHaveLength(2);
  });

  it('is disabled by 410, with a problem and a row in the audit, and enabled by PATCH', async () => {
    const receiver = await startReceiver(answerWith(410));
    const { id } = await webhookTo(receiver);
    await at.request('POST', `/v1/webhooks/${id}/test`);
    const disabled = await eventually(async () => {
      const { json } = await at.request('GET', `/v1/webhooks/${id}`);
      return json.state === 'disabled' && json;
    });
    expect(disabled.problems).toMatchObject([{ code: 'WEBHOOK_DISABLED', detail: expect.stringContaining('410') }]);
    const refused = await at.request('POST', `/v1/webhooks/${id}/test`);
    expect([refused.status, refused.json.code]).toEqual([409, 'WEBHOOK_DISABLED']);
    const rows = await eventually(async () => {
      const { data } = (await at.request('GET', '/v1/audit?action=webhook.disabled')).json;
      return data.some(({ target }: Json) => target === id) && data;
    });
    expect(rows.find(({ target }: Json) => target === id)).toMatchObject({ actor: 'notifier', from: null });
    receiver.answers(answerWith(200));
    const enabled = await at.request('PATCH', `/v1/webhooks/${id}`, { state: 'active' });
    expect(enabled.json).toMatchObject({ state: 'active', problems: [] });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const recovered = await at.request('POST', `/v1/webhooks/${id}/recover`, { since });
    expect([recovered.status, recovered.json]).toEqual([202, { matched: 1 }]);
    await eventually(async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
    const actions = (await at.request('GET', '/v1/audit?order=desc&limit=200')).json.data
      .filter(({ target }: Json) => target === id)
      .map(({ action }: Json) => action);
    expect(actions).toEqual(expect.arrayContaining(['webhook.created', 'webhook.disabled', 'webhook.changed']));
  });

  it('does not hold up others when it never answers', async () => {
    const [slow, quick] = [await startReceiver(hang), await startReceiver()];
    const hanging = await webhookTo(slow);
    await webhookTo(quick);
    for (let nth = 0; nth < 12; nth += 1) await at.request('POST', `/v1/webhooks/${hanging.id}/test`);
    await slow.came(1);
    const thread = await openThread(at);
    await say(at, thread, 'Hello');
    await quick.came(1);
    expect((await deliveriesOf(hanging.id)).some(({ state }) => state === 'delivered')).toBe(false);
    await at.request('DELETE', `/v1/webhooks/${hanging.id}`);
  });
});

describe('a webhook is refused', () => {
  it.each([
    ...[
      'ftp://hooks.example.com/',
      'https://user:secret@hooks.example.com/',
      'https://hooks.example.com:99999/',
      'not a url',
    ],
    ...['https://10.0.0.1/', 'https://192.168.1.1/', 'https://[fd00::1]/', 'https://169.254.169.254/latest/meta-data'],
    ...[
      'https://0x0a000001/',
      'https://[::ffff:10.0.0.1]/',
      'https://metadata.google.internal/',
      'https://hooks.example.com:22/',
    ],
    ...['http://hooks.example.com/', 'https://0.0.0.0/', 'javascript:alert(1)', 'file:///etc/passwd', ''],
  ])('with the URL %j', async (url) => {
    const refused = await at.request('POST', '/v1/webhooks', { url, events: ['thread.idle'] });
    expect(refused.status, refused.text).toBe(422);
    expect(refused.json.errors[0].pointer).toBe('/url');
  });

  it.each([
    [{ events: [] }, '/events'],
    [{ events: ['thread.nothing'] }, '/events/0'],
    [{ filter: { agents: [] } }, '/filter/agents'],
    [{ filter: { of: 'x' } }, '/filter/of'],
    [{ secret: 'whsec_mine' }, '/secret'],
  ])('with %j', async (more, pointer) => {
    const body = { url: 'https://hooks.example.com/', events: ['thread.idle'], ...more };
    const refused = await at.request('POST', '/v1/webhooks', body);
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([422, pointer]);
  });

  it('by a key that may not', async () => {
    const { key } = (await at.request('POST', '/v1/api-keys', { name: 'reader', scopes: ['read'] })).json;
    const body = { url: 'https://hooks.example.com/', events: ['thread.idle'] };
    expect((await at.request('POST', '/v1/webhooks', body, { key })).status).toBe(403);
    expect((await at.request('GET', '/v1/webhooks', undefined, { key })).status).toBe(200);
  });
});
