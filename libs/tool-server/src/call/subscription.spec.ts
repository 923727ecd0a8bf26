import { createHmac } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { webhook } from '../http/route.ts';
import { bench, temporaryFolder } from '../spec/bench.ts';
import { eventually, quiet } from '../spec/callback-sink.ts';
import type { Subscription } from './subscription.ts';
import { defineTool } from '../define/tool.ts';
import { failed } from '../define/tool-output.ts';

const watch = defineTool(
  {
    name: 'watch',
    description: 'Subscribes to a topic.',
    input: z.strictObject({ topic: z.string() }),
  },
  async ({ topic }, context) => {
    if (topic === 'forbidden') return failed('nobody may watch that.');
    await context.subscribe({ text: `Watching ${topic}.`, data: { topic } });
    return 'this is not sent';
  },
);
const tools = [watch];
const only = (subscriptions: readonly Subscription[]): Subscription => {
  const [subscription] = subscriptions;
  if (subscription === undefined) throw new Error('there is no subscription');
  return subscription;
};

describe('a subscription', () => {
  it('T28 is confirmed first, with the flag and an id in the text, and the call gets no second result', async () => {
    const at = await bench({ tools });
    at.sink.answers.push(503); // the confirmation has to be retried, and the event waits for it
    const id = await at.invoke('watch', { topic: 'news' });
    await eventually(() => at.server.subscriptions().length === 1, 'the subscription');
    only(at.server.subscriptions()).emit('first');
    await at.sink.until(3);
    await quiet();
    const [, confirmation, event] = at.sink.delivered.map((each) => JSON.parse(each.body) as Record<string, unknown>);
    expect(confirmation).toMatchObject({ type: 'tool_result', id, subscription: true });
    expect(confirmation?.['text']).toBe(`Watching news. Subscription ID: ${id}`);
    expect(event).toMatchObject({ type: 'subscription_event', tool_call_id: id });
    expect(at.sink.delivered.length).toBe(3);
  });

  it('T28 is not announced by an error', async () => {
    const at = await bench({ tools });
    const id = await at.invoke('watch', { topic: 'forbidden' });
    expect(await at.sink.resultOf(id)).toMatchObject({ text: 'Error: nobody may watch that.', subscription: false });
    expect(at.server.subscriptions()).toEqual([]);
  });

  it('T29 sends one event per match, with the fields of the protocol and no others', async () => {
    const at = await bench({ tools });
    const id = await at.invoke('watch', { topic: 'news' }, { group_id: 'thr_9', call_id: 'p_1' });
    await at.sink.resultOf(id);
    const subscription = only(at.server.subscriptions('watch'));
    expect(subscription.data).toEqual({ topic: 'news' });
    subscription.emit({ headline: 'It rains' });
    subscription.emit('line 1', { associative: true, eventId: 'd-1' });
    await at.sink.until(3);
    const ids = { type: 'subscription_event', group_id: 'thr_9', tool_call_id: id };
    expect(JSON.parse(at.sink.delivered[1]?.body ?? '')).toEqual({
      ...ids,
      text: '{"headline":"It rains"}',
      associative: false,
      final: false,
    });
    expect(JSON.parse(at.sink.delivered[2]?.body ?? '')).toEqual({
      ...ids,
      text: 'line 1',
      associative: true,
      final: false,
    });
  });

  it('T29 sends an event that its source repeats once', async () => {
    const at = await bench({ tools });
    await at.ask('watch', { topic: 'news' });
    const subscription = only(at.server.subscriptions());
    expect(subscription.emit('a', { eventId: 'd-1' })).toBe('emitted');
    expect(subscription.emit('a', { eventId: 'd-1' })).toBe('duplicate');
    expect(subscription.emit('b', { eventId: 'd-2' })).toBe('emitted');
    await at.sink.until(3);
    await quiet();
    expect(at.sink.delivered.length).toBe(3);
  });

  it('T30 says nothing after its final event', async () => {
    const at = await bench({ tools });
    await at.ask('watch', { topic: 'news' });
    const subscription = only(at.server.subscriptions());
    subscription.emit('last', { final: true });
    expect(subscription.emit('after')).toBe('ended');
    expect(subscription.signal.aborted).toBe(true);
    await at.sink.until(2);
    await quiet();
    expect(JSON.parse(at.sink.delivered[1]?.body ?? '')).toMatchObject({ text: 'last', final: true });
    expect(at.sink.delivered.length).toBe(2);
    expect(at.server.subscriptions()).toEqual([]);
  });

  it('T30 says nothing after its cancellation, not even what waited to be sent', async () => {
    const at = await bench({ tools, delivery: { firstPauseMs: 1_000, pauseMsMax: 1_000 } });
    const id = await at.invoke('watch', { topic: 'news' });
    await at.sink.resultOf(id);
    const subscription = only(at.server.subscriptions());
    at.sink.answers.push(503);
    subscription.emit('waits for its repetition');
    subscription.emit('waits behind it');
    await at.sink.until(2);
    await at.post('/cancel_tool_call', { thread_id: 'thr_1', tool_call_id: id });
    await eventually(() => subscription.signal.aborted, 'the end');
    expect(subscription.emit('after')).toBe('ended');
    await quiet(1_300); // the repetition would have come
    expect(at.sink.delivered.length).toBe(2);
  });

  it('T30 ends with its thread, and when the runtime does not know its URL any more', async () => {
    const at = await bench({ tools });
    await at.ask('watch', { topic: 'a' }, { group_id: 'thr_a' });
    await at.ask('watch', { topic: 'b' }, { group_id: 'thr_b' });
    await at.post('/close_thread', { thread_id: 'thr_a' });
    await eventually(() => at.server.subscriptions().length === 1, 'the end of the first');
    at.sink.answers.push(422, 410);
    only(at.server.subscriptions()).emit('not understood');
    await at.sink.until(3);
    expect(at.server.subscriptions().length).toBe(1);
    only(at.server.subscriptions()).emit('not wanted');
    await eventually(() => at.server.subscriptions().length === 0, 'the end of the second');
  });

  it('T23 sends a burst at once and the rest evenly, and says so when too much waits', { retry: 3 }, async () => {
    const limits = { eventsPerSecond: 20, eventsBurst: 3, eventsWaitingMax: 5 };
    const at = await bench({ tools, limits });
    await at.ask('watch', { topic: 'news' });
    const subscription = only(at.server.subscriptions());
    const outcomes = Array.from({ length: 8 }, (_, index) => subscription.emit(`event ${index}`));
    expect(outcomes.filter((outcome) => outcome === 'emitted').length).toBeGreaterThanOrEqual(5);
    expect(outcomes.at(-1)).toBe('backlog_full');
    const count = outcomes.filter((outcome) => outcome === 'emitted').length;
    const messages = (await at.sink.until(1 + count)).slice(1);
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = messages.map((each) => each.at);
    expect(third - first).toBeLessThan(fifth - third);
    expect(fifth - third).toBeGreaterThan(70);
    expect([second, fourth].every((time) => time > first)).toBe(true);
  });

  it('T23 is refused beyond the limit of a thread', async () => {
    const at = await bench({ tools, limits: { subscriptionsPerThreadMax: 1 } });
    await at.ask('watch', { topic: 'a' });
    expect(await at.ask('watch', { topic: 'b' })).toMatch(/^Error: this conversation has 1 subscriptions here already/);
    expect(await at.ask('watch', { topic: 'c' }, { group_id: 'thr_2' })).toMatch(/^Watching c/);
  });

  it('T37 ends by itself some day, and says so', async () => {
    const at = await bench({ tools, limits: { subscriptionMsMax: 30 } });
    await at.ask('watch', { topic: 'news' });
    await quiet(40);
    at.server.sweep();
    await at.sink.until(2);
    expect(JSON.parse(at.sink.delivered[1]?.body ?? '')).toMatchObject({ final: true });
    expect(at.server.subscriptions()).toEqual([]);
  });

  it('T27 is told of its end when the process ends and nothing was durable', async () => {
    const at = await bench({ tools, limits: { closeMsMax: 1_000 } });
    await at.ask('watch', { topic: 'news' });
    await at.server.close();
    expect(JSON.parse(at.sink.delivered[1]?.body ?? '')).toMatchObject({
      text: 'The subscription has ended: the tool server was stopped.',
      final: true,
    });
  });
});

describe('on disk', () => {
  it('T27 T26 subscriptions are there again after a restart, and still speak to their URL', async () => {
    const dataDir = await temporaryFolder();
    const resumed: unknown[] = [];
    const durable = defineTool(
      { ...watch, input: z.strictObject({ topic: z.string() }), resume: ({ data }) => void resumed.push(data) },
      async ({ topic }, context) => void (await context.subscribe({ data: { topic } })),
    );
    const first = await bench({ tools: [durable], dataDir });
    const id = await first.invoke(
      'watch',
      { topic: 'news' },
      { callback_url: `${first.sink.url}/a%2Fb?c=1`, call_id: 'p' },
    );
    await first.sink.resultOf(id);
    const before = only(first.server.subscriptions());
    await first.server.close();
    expect([before.signal.aborted, before.emit('too late')]).toEqual([true, 'server_closed']);
    expect(first.sink.delivered.length).toBe(1);

    const second = await bench({ tools: [durable], dataDir });
    expect(resumed).toEqual([{ topic: 'news' }]);
    only(second.server.subscriptions('watch')).emit('back');
    await first.sink.until(2);
    expect(first.sink.delivered[1]?.path).toBe('/a%2Fb?c=1');
    expect(JSON.parse(first.sink.delivered[1]?.body ?? '')).toMatchObject({
      group_id: 'thr_1',
      tool_call_id: id,
      text: 'back',
    });
  });

  it('T32 nothing shows a callback URL, data or a text that waits; the key is only for its owner', async () => {
    const dataDir = await temporaryFolder();
    const at = await bench({ tools, dataDir });
    at.sink.answers.push(200, ...Array.from({ length: 50 }, () => 503));
    const id = await at.invoke(
      'watch',
      { topic: 'plain-topic' },
      { callback_url: `${at.sink.url}/callback/plain-token` },
    );
    await at.sink.resultOf(id);
    only(at.server.subscriptions()).emit('plain-event');
    await at.sink.until(2);
    const names = await readdir(dataDir);
    expect(names).toContain('tool-server.db');
    for (const name of names)
      expect((await readFile(join(dataDir, name))).toString('latin1')).not.toMatch(
        /plain-(token|topic|event)|callback\//,
      );
    expect((await stat(join(dataDir, 'key'))).mode & 0o077).toBe(0);
  });

  it('T32 a key that was given is used, and another one is refused', async () => {
    const dataDir = await temporaryFolder();
    const one = await bench({ tools, dataDir, encryptionKey: Buffer.alloc(32, 1) });
    expect(await readdir(dataDir)).not.toContain('key');
    await one.server.close();
    await expect(bench({ tools, dataDir, encryptionKey: Buffer.alloc(32, 2) })).rejects.toThrow('does not fit');
    await expect(bench({ tools, encryptionKey: Buffer.alloc(8) })).rejects.toThrow('32 bytes');
  });

  it('one process owns a data directory', async () => {
    const dataDir = await temporaryFolder();
    await bench({ tools, dataDir });
    await expect(bench({ tools, dataDir })).rejects.toThrow('does another process use this data directory?');
  });
});

describe('a webhook', () => {
  it('T31 counts only when its source has signed it', async () => {
    const hook = webhook({
      path: '/webhooks/github',
      secret: (server) => server.secret('github'),
      scheme: 'github',
      handle: ({ payload, deliveryId }, server) => {
        for (const each of server.subscriptions('watch')) each.emit(payload as object, { eventId: deliveryId });
      },
    });
    const at = await bench({ tools, routes: [hook] });
    await at.ask('watch', { topic: 'repo' });
    const body = '{"action":"opened"}';
    const sign = (secret: string): Record<string, string> => ({
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      'x-github-delivery': 'd-1',
    });
    const secret = at.server.secret('github');
    expect((await at.post('/webhooks/github', body)).status).toBe(401);
    expect((await at.post('/webhooks/github', body, sign('guess'))).status).toBe(401);
    expect((await at.post('/webhooks/github', body.replace('opened', 'closed'), sign(secret))).status).toBe(401);
    await quiet();
    expect(at.sink.delivered.length).toBe(1);
    expect((await at.post('/webhooks/github', body, sign(secret))).status).toBe(202);
    expect((await at.post('/webhooks/github', body, sign(secret))).status).toBe(202); // delivered twice by the source
    await at.sink.until(2);
    await quiet();
    expect(at.sink.delivered.length).toBe(2);
    expect(JSON.parse(at.sink.delivered[1]?.body ?? '')).toMatchObject({ text: body });
  });
});
