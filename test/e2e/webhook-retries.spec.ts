// How deliveries are tried again and given up, on the development clock, and what a restart and a suspended tenant
// leave of them.
import { attemptDelaysMs } from '@dormouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, openThread, say } from './conversation.ts';
import { cleanUp, type Json, type Standalone, startStandalone } from './standalone-process.ts';
import { answerWith, endReceivers, startReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const platformKey = 'platform-key-of-the-specs';
const env = { DORMOUSE_PLATFORM_KEY: platformKey };
const day = 86_400_000;

let at: Standalone;
beforeAll(async () => {
  at = await startStandalone({ env });
});
afterAll(async () => {
  await endReceivers();
  await cleanUp();
});

const advance = (ms: number): Promise<unknown> => at.request('POST', '/v1/dev/clock', { advance_ms: ms });

async function webhookTo({ url }: WebhookReceiver, key = at.key): Promise<Json> {
  const made = await at.request('POST', '/v1/webhooks', { url, events: ['thread.idle'] }, { key });
  expect(made.status, made.text).toBe(201);
  return made.json;
}

const test = async (id: string): Promise<string> => (await at.request('POST', `/v1/webhooks/${id}/test`)).json.id;

async function deliveryOf(id: string, delivery: string, holds: (delivery: Json) => boolean): Promise<Json> {
  return eventually(async () => {
    const { data } = (await at.request('GET', `/v1/webhooks/${id}/deliveries`)).json;
    const found = data.find((each: Json) => each.id === delivery);
    return found !== undefined && holds(found) && found;
  });
}

const tried = (times: number) => (delivery: Json) => delivery.attempts.length === times;
const webhook = async (id: string): Promise<Json> => (await at.request('GET', `/v1/webhooks/${id}`)).json;

describe('a delivery that fails', () => {
  it('is tried eight times over the day, then has failed, and can be recovered', async () => {
    const receiver = await startReceiver(answerWith(302, { location: 'http://127.0.0.1:1/' }));
    const { id } = await webhookTo(receiver);
    const delivery = await test(id);
    for (let times = 1; times < attemptDelaysMs.length; times += 1) {
      const waits = await deliveryOf(id, delivery, tried(times));
      expect(waits.state).toBe('pending');
      const { at: last, ms } = waits.attempts.at(-1);
      const delayMs = Date.parse(waits.next_at) - Date.parse(last) - ms;
      const wanted = attemptDelaysMs[times] ?? 0;
      expect(delayMs / wanted, `attempt ${times + 1}`).toBeGreaterThanOrEqual(0.79);
      expect(delayMs / wanted, `attempt ${times + 1}`).toBeLessThanOrEqual(1.21);
      expect(receiver.posts).toHaveLength(times);
      await advance(wanted * 1.2);
    }
    const failed = await deliveryOf(id, delivery, ({ state }) => state === 'failed');
    expect(failed.attempts.map(({ status }: Json) => status)).toEqual(attemptDelaysMs.map(() => 302));
    expect(failed.next_at).toBeNull();
    expect(new Set(receiver.posts.map((posted) => `${posted.id} ${posted.text}`)).size).toBe(1);
    expect((await webhook(id)).problems).toMatchObject([{ code: 'WEBHOOK_FAILING' }]);
    receiver.answers(answerWith(200));
    const { json } = await at.request('POST', `/v1/webhooks/${id}/recover`, { since: failed.created_at });
    expect(json).toEqual({ matched: 1 });
    await deliveryOf(id, delivery, ({ state }) => state === 'delivered');
    expect(await webhook(id)).toMatchObject({ state: 'active', problems: [] });
  });

  it('has a code where there was no answer', async () => {
    const receiver = await startReceiver();
    const { id } = await webhookTo(receiver);
    await receiver.close();
    const { attempts } = await deliveryOf(id, await test(id), tried(1));
    expect(attempts).toMatchObject([{ status: 'UNREACHABLE' }]);
    await at.request('DELETE', `/v1/webhooks/${id}`);
  });

  it('disables its webhook after five days without a success, not after one in between', async () => {
    const receiver = await startReceiver(answerWith(503));
    const { id } = await webhookTo(receiver);
    await deliveryOf(id, await test(id), tried(1));
    await advance(4 * day);
    receiver.answers(answerWith(200));
    const second = await test(id);
    await deliveryOf(id, second, ({ state }) => state === 'delivered');
    receiver.answers(answerWith(503));
    const third = await test(id);
    await deliveryOf(id, third, tried(1));
    await advance(2 * day); // six since the first failure
    await deliveryOf(id, third, tried(2));
    expect((await webhook(id)).state).toBe('active');
    await advance(3 * day + 60_000);
    await deliveryOf(id, third, ({ state }) => state === 'failed');
    expect(await webhook(id)).toMatchObject({ state: 'disabled', problems: [{ code: 'WEBHOOK_DISABLED' }] });
    const thread = await openThread(at);
    await say(at, thread, 'Hello');
    const posts = receiver.posts.length;
    receiver.answers(answerWith(200));
    await at.request('PATCH', `/v1/webhooks/${id}`, { state: 'active' });
    await say(at, thread, 'Hello again');
    const [told] = (await receiver.came(posts + 1)).slice(posts);
    expect(told?.body).toMatchObject({ type: 'thread.idle', data: { thread_id: thread } });
    const { data } = (await at.request('GET', `/v1/webhooks/${id}/deliveries`)).json;
    expect(data.filter(({ event }: Json) => event === 'thread.idle')).toHaveLength(1);
  });

  it('signs with the secret before for a day', async () => {
    const receiver = await startReceiver();
    const { id } = await webhookTo(receiver);
    await at.request('POST', `/v1/webhooks/${id}/rotate`);
    const signatures = async (): Promise<number> => {
      const before = receiver.posts.length;
      await test(id);
      const posted = (await receiver.came(before + 1)).at(-1);
      return String(posted?.headers['webhook-signature']).split(' ').length;
    };
    await advance(day - 60_000);
    expect(await signatures()).toBe(2);
    await advance(61_000);
    expect(await signatures()).toBe(1);
  });
});

it('what a suspended tenant would be told is held, and told when it is resumed', async () => {
  const receiver = await startReceiver();
  const { key } = (await at.request('POST', '/v1/tenants', { id: 'held' }, { key: platformKey })).json;
  const { id } = await webhookTo(receiver, key);
  const suspend = (state: string) => at.request('PATCH', '/v1/tenants/held', { state }, { key: platformKey });
  receiver.answers(answerWith(503));
  await at.request('POST', `/v1/webhooks/${id}/test`, undefined, { key });
  await receiver.came(1);
  expect((await suspend('suspended')).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // in force everywhere
  const posts = receiver.posts.length;
  receiver.answers(answerWith(200));
  await advance(6 * 3_600_000);
  const own = await webhookTo(await startReceiver());
  await deliveryOf(own.id, await test(own.id), ({ state }) => state === 'delivered'); // others go on
  expect(receiver.posts).toHaveLength(posts);
  expect((await suspend('active')).status).toBe(200);
  await receiver.came(posts + 1);
});

it('W1 what was committed and not yet told when the process ended is told by the next one, once', async () => {
  const receiver = await startReceiver();
  const first = await startStandalone({ env });
  const made = await first.request('POST', '/v1/webhooks', { url: receiver.url, events: ['thread.idle'] });
  expect(made.status).toBe(201);
  const thread = await openThread(first);
  for (let nth = 0; nth < 5; nth += 1) await say(first, thread, 'Hello');
  await first.stop('SIGKILL');
  const again = await startStandalone({ dataDir: first.dataDir, env });
  await eventually(async () => new Set(receiver.posts.map(({ id }) => id)).size === 5);
  const { data } = (await again.request('GET', `/v1/webhooks/${made.json.id}/deliveries`)).json;
  expect(data).toHaveLength(5);
  await eventually(async () => {
    const { json } = await again.request('GET', `/v1/webhooks/${made.json.id}/deliveries`);
    return json.data.every(({ state }: Json) => state === 'delivered');
  });
  // An attempt that was not recorded when the process was killed is made again, under its id.
  expect(receiver.posts.length).toBeLessThanOrEqual(10);
  await again.stop();
});
