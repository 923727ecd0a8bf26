// Without any OpenTelemetry in the process: a call's `traceparent` is handed on, and nothing else changes.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench } from './spec/bench.ts';
import { defineTool } from './define/tool.ts';
import { activeTraceparent, beginSpan } from './trace/open-telemetry.ts';

const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const none = z.strictObject({});
const echo = defineTool({ name: 'echo', description: 'Says hi.', input: none }, () => 'hi');
const listen = defineTool({ name: 'listen', description: 'Subscribes.', input: none }, async (_given, ctx) => {
  const subscription = await ctx.subscribe({ text: 'Listening.' });
  subscription.emit('first');
  subscription.emit('last', { final: true });
  return '';
});

async function sent(tool: 'echo' | 'listen', messages: number, traceparent?: string) {
  const at = await bench({ tools: [echo, listen] });
  const call = { operation: tool, arguments: {}, id: 'c1', callback_url: at.sink.url, group_id: 'thr_1' };
  const answer = await at.post('/invoke', call, traceparent === undefined ? {} : { traceparent });
  expect(answer.status).toBe(200);
  return (await at.sink.until(messages)).map(({ headers }) => headers);
}

describe('R3 without OpenTelemetry', () => {
  it('there is none in this process, and no span is made', () => {
    expect(Object.getOwnPropertySymbols(globalThis)).not.toContain(Symbol.for('opentelemetry.js.api.1'));
    expect(activeTraceparent()).toBeNull();
    const start = { name: 'x', kind: 'server', attributes: {}, parent: given, link: null } as const;
    expect(beginSpan(start)).toBeNull();
  });

  it('every message of a call carries the traceparent of its POST, those of a subscription too', async () => {
    expect((await sent('echo', 1, given)).map(({ traceparent }) => traceparent)).toEqual([given]);
    expect((await sent('listen', 3, given)).map(({ traceparent }) => traceparent)).toEqual([given, given, given]);
  });

  it('tracestate and baggage go no further', async () => {
    const at = await bench({ tools: [echo] });
    const call = { operation: 'echo', arguments: {}, id: 'c1', callback_url: at.sink.url, group_id: 'thr_1' };
    await at.post('/invoke', call, { traceparent: given, tracestate: 'vendor=1', baggage: 'user=alice' });
    const [message] = await at.sink.until(1);
    expect(message?.headers).not.toHaveProperty('tracestate');
    expect(message?.headers).not.toHaveProperty('baggage');
    expect(message?.headers['traceparent']).toBe(given);
  });

  it.each([
    ['none', undefined],
    ['one of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['one without a span', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
    ['one in capitals', given.toUpperCase()],
    ['one of another version', `ff${given.slice(2)}`],
    ['one with more fields', `${given}-${'x'.repeat(4_000)}`],
    ['one that is none', 'x'],
  ])('%s changes nothing', async (_what, traceparent) => {
    const [headers] = await sent('echo', 1, traceparent);
    expect(headers).not.toHaveProperty('traceparent');
  });

  it('of its flags only the one that W3C defines goes on', async () => {
    const [headers] = await sent('echo', 1, `${given.slice(0, -2)}ff`);
    expect(headers?.['traceparent']).toBe(given);
  });
});
