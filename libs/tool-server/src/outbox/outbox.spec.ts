import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, later, quickDelivery } from '../spec/bench.ts';
import { eventually, quiet } from '../spec/callback-sink.ts';
import { defineTool } from '../define/tool.ts';

const now = defineTool({ name: 'now', description: 'Tells the time.', input: z.strictObject({}) }, () =>
  String(performance.now()),
);
const chatty = defineTool(
  { name: 'chatty', description: 'Shows much.', input: z.strictObject({}) },
  async (_given, context) => {
    for (let step = 1; step <= 5; step += 1) await context.view('progress', { step });
    return 'done';
  },
);
const tools = [now, chatty];

describe('a message', () => {
  it('T15 is sent again after 5xx, a timeout and a broken connection, with the same bytes and growing pauses', async () => {
    const at = await bench({ tools, delivery: { ...quickDelivery, timeoutMs: 150 } });
    at.sink.answers.push(503, 'drop', 'hang', 500);
    await at.invoke('now');
    const messages = await at.sink.until(5);
    await quiet();
    expect(messages.length).toBe(5);
    expect(new Set(messages.map((each) => each.body)).size).toBe(1);
    expect(new Set(messages.map((each) => each.headers['idempotency-key'])).size).toBe(1);
    const [first = 0, second = 0, , , fifth = 0] = messages.map((each) => each.at);
    expect(second - first).toBeGreaterThan(8); // 20 ms, half of it jitter
    expect(fifth - first).toBeGreaterThan(10 + 20 + 150 + 30 + 30 - 10);
    expect(at.server.waitingMessages()).toBe(0);
  });

  it('T15 is sent when a runtime that was away is back', async () => {
    const at = await bench({ tools });
    const placeholder = createServer();
    await new Promise<void>((resolve) => placeholder.listen(0, '127.0.0.1', resolve));
    const { port } = placeholder.address() as AddressInfo;
    await new Promise((resolve) => placeholder.close(resolve));
    await at.invoke('now', {}, { callback_url: `http://127.0.0.1:${port}/c` });
    await quiet(60);
    const arrived = new Promise<void>((resolve) => {
      const back = createServer((_request, response) => {
        response.end();
        resolve();
      }).listen(port, '127.0.0.1');
      later(async () => back.close());
    });
    await arrived;
  });

  it.each([400, 401, 404, 409, 410, 422, 429])('T16 is never sent again after %i', async (status) => {
    const at = await bench({ tools, delivery: { firstPauseMs: 20, timeoutMs: 5_000 } }); // no timeout on a slow machine
    at.sink.answers.push(status);
    await at.invoke('now');
    await at.sink.until(1);
    await quiet();
    expect(at.sink.delivered.length).toBe(1);
    expect(at.server.waitingMessages()).toBe(0);
  });

  it.each([
    '/CallBack/a%2Fb%7e/../x//y;z?q=%20A&&b=C%2b+d',
    '/?',
    '//double',
    '/t/%e4?redirect=http://other/&x=[1]|{2}^`',
    '?only=query',
  ])('T17 goes to the callback URL byte for byte: %s', async (path) => {
    const at = await bench({ tools });
    await at.invoke('now', {}, { callback_url: `${at.sink.url}${path}` });
    const [message] = await at.sink.until(1);
    expect(message?.path).toBe(path.startsWith('/') ? path : `/${path}`);
  });

  it('is not followed to where it is redirected', async () => {
    const at = await bench({ tools });
    at.sink.answers.push(307);
    await at.invoke('now');
    await quiet();
    expect(at.sink.delivered.length).toBe(1);
  });

  it('waits for the one before it: per callback URL everything is in order, also over failures', async () => {
    const at = await bench({ tools });
    at.sink.answers.push(200, 503, 200, 'drop');
    const id = await at.invoke('chatty');
    await at.sink.resultOf(id);
    const told = at.sink.delivered.map(({ callback }) =>
      callback.type === 'view_update' ? callback.content['step'] : callback.type,
    );
    expect(told).toEqual([1, 2, 2, 3, 3, 4, 5, 'tool_result']);
  });

  it('of one thread does not wait for another thread', async () => {
    const at = await bench({ tools });
    at.sink.answers.push('hang');
    await at.invoke('now', {}, { group_id: 'thr_a', callback_url: `${at.sink.url}/shared` });
    await at.sink.until(1);
    await at.ask('now', {}, { group_id: 'thr_b', callback_url: `${at.sink.url}/shared` });
  });

  it('is given up in the end, and that is logged', async () => {
    const at = await bench({ tools, delivery: { firstPauseMs: 5, pauseMsMax: 5, timeoutMs: 100, totalMsMax: 40 } });
    at.sink.answers.push(...Array.from({ length: 100 }, () => 500));
    await at.invoke('now');
    await eventually(() => /given up \(status 500\)/.test(at.log.join('\n')), 'the line in the log');
    expect(at.server.waitingMessages()).toBe(0);
  });
});

describe('closing', () => {
  it('lets messages out for a bounded time', async () => {
    const at = await bench({ tools, limits: { closeMsMax: 1_000 } });
    at.sink.answers.push(503);
    await at.invoke('now');
    await at.sink.until(1);
    await at.server.close();
    expect(at.sink.delivered.length).toBe(2);
  });

  it('does not wait for a runtime that never answers', async () => {
    const at = await bench({
      tools,
      limits: { closeMsMax: 50 },
      delivery: { firstPauseMs: 60_000, timeoutMs: 60_000 },
    });
    at.sink.answers.push('hang');
    await at.invoke('now');
    await at.sink.until(1);
    const before = performance.now();
    await at.server.close();
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});
