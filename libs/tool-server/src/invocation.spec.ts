import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bench, nextId } from './spec/bench.ts';
import { eventually, quiet } from './spec/callback-sink.ts';
import { defineTool } from './define/tool.ts';
import { ToolError } from './define/tool-output.ts';

const none = z.strictObject({});
const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string().max(20) }) },
  ({ text }) => text,
);
const begun: number[] = [];
const slow = defineTool(
  { name: 'slow', description: 'Takes a while.', input: z.strictObject({ ms: z.number() }), expectedSeconds: 60 },
  async ({ ms }, { signal }) => {
    begun.push(performance.now());
    await sleep(ms, undefined, { signal });
    return 'done';
  },
);
const boom = defineTool({ name: 'boom', description: 'Breaks.', input: none }, () => {
  throw new TypeError('the secret plan');
});
const sorry = defineTool({ name: 'sorry', description: 'Says why it cannot.', input: none }, async () => {
  throw new ToolError('the disk is full. Delete something first.');
});
const stuck = defineTool(
  { name: 'stuck', description: 'Hangs.', input: none, deadlineMs: 40 },
  () => new Promise<string>(() => {}),
);
const unsure = defineTool(
  {
    name: 'unsure',
    description: 'Never knows whether its arguments fit.',
    input: z.strictObject({}).refine(() => new Promise<boolean>(() => {})),
    deadlineMs: 40,
  },
  () => 'never',
);
const tools = [echo, slow, boom, sorry, stuck, unsure];

describe('an acknowledgement', () => {
  it('T2 is given at the endpoint that the manifest names', async () => {
    const at = await bench({ tools });
    const manifest = (await (await fetch(`${at.server.url}/.well-known/rap-toolset`)).json()) as { endpoint: string };
    const id = nextId();
    const body = { operation: 'echo', arguments: { text: 'a' }, id, callback_url: at.sink.url, group_id: 'thr_1' };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(manifest.endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect((await at.sink.resultOf(id)).text).toBe('a');
  });

  it('T6 comes at once, however long the work takes', async () => {
    const at = await bench({ tools });
    const before = performance.now();
    await at.invoke('slow', { ms: 60_000 });
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('T7 comes before the handler begins, and validation after it', async () => {
    const at = await bench({ tools });
    begun.length = 0;
    const order: string[] = [];
    const answered = at.invoke('slow', { ms: 0 }).then(() => order.push('acknowledged'));
    const delivered = at.sink.until(1).then(() => order.push('delivered'));
    await Promise.all([answered, delivered]);
    expect(order).toEqual(['acknowledged', 'delivered']);
    expect(begun.length).toBe(1);
    const bad = await at.post('/invoke', {
      operation: 'slow',
      arguments: { ms: 'long' },
      id: nextId(),
      callback_url: at.sink.url,
      group_id: 'thr_1',
    });
    expect(bad.status).toBe(200);
    expect(begun.length).toBe(1);
  });

  it('is refused to what nobody could answer', async () => {
    const at = await bench({ tools });
    const call = { operation: 'echo', arguments: {}, id: 'x', callback_url: at.sink.url, group_id: 'thr_1' };
    expect((await at.post('/invoke', '{"operation":')).status).toBe(400);
    expect((await at.post('/invoke', { operation: 'echo', arguments: {} })).status).toBe(422);
    expect((await at.post('/invoke', { ...call, callback_url: 'not a url' })).status).toBe(422);
    expect((await at.post('/invoke', 'x'.repeat(2_100_000))).status).toBe(413);
    expect((await at.post('/invoke', call, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await at.post('/elsewhere', call)).status).toBe(404);
  });
});

describe('a result', () => {
  it('T8 T14 arrives later as a POST of JSON in UTF-8', async () => {
    const at = await bench({ tools });
    await at.invoke('echo', { text: 'Größe 測試 🐭' });
    const [message] = await at.sink.until(1);
    expect(message?.method).toBe('POST');
    expect(message?.headers['content-type']).toMatch(/^application\/json(; charset=utf-8)?$/);
    expect(new TextDecoder('utf-8', { fatal: true }).decode(message?.bytes)).toContain('Größe 測試 🐭');
  });

  it('T9 T10 says what is wrong with an operation or arguments that do not exist, after a 200', async () => {
    const at = await bench({ tools });
    expect(await at.ask('nonsense')).toBe('Error: there is no tool "nonsense" here.');
    expect(await at.ask('echo', { texts: 'a' })).toMatch(/^Error: these arguments do not fit the tool\. .*text/);
    expect(await at.ask('echo', { text: 'x'.repeat(21) })).toMatch(/^Error: .*text/);
    expect(await at.ask('echo', 'no object')).toMatch(/^Error: this is not a valid invocation: \/arguments/);
  });

  it.each([
    ['throws', 'boom', /^Error: the tool broke \(TypeError\)/],
    ['rejects', 'sorry', /^Error: the disk is full\. Delete something first\.$/],
    ['hangs past its deadline', 'stuck', /^Error: the tool did not finish within 0\.04 s/],
    ['is not reached, because a check of its arguments hangs', 'unsure', /^Error: the tool did not finish within/],
  ])('T11 comes when the handler %s', async (_how, operation, text) => {
    const at = await bench({ tools });
    expect(await at.ask(operation)).toMatch(text);
    await quiet();
    expect(at.sink.delivered.length).toBe(1);
  });

  it('T12 T13 repeats group_id, id and call_id as they came', async () => {
    const at = await bench({ tools });
    const odd = { id: '../call %00/1', group_id: 'thr "ü"', call_id: 'toolu_1' };
    await at.invoke('echo', { text: 'a' }, odd);
    await at.invoke('echo', { text: 'b' }, { call_id: null });
    const [first, second] = (await at.sink.until(2)).map((each) => JSON.parse(each.body) as Record<string, unknown>);
    expect(first).toMatchObject(odd);
    expect(second).not.toHaveProperty('call_id');
  });

  it('T19 tells the model no stack and no message of an unexpected error, and the operator all of it', async () => {
    const at = await bench({ tools });
    const text = await at.ask('boom');
    expect(text).not.toMatch(/secret plan|\bat \S+:\d+/);
    expect(at.log.join('\n')).toContain('TypeError: the secret plan');
  });

  it('T24 of one call never carries what belongs to another', async () => {
    const at = await bench({ tools });
    const all = Array.from({ length: 100 }, (_, index) => {
      const ids = { id: `c_${index}`, group_id: `g_${index % 7}`, call_id: `p_${index}` };
      return at.invoke('echo', { text: `text ${index}` }, { ...ids, callback_url: `${at.sink.url}/at/${index}` });
    });
    await Promise.all(all);
    for (const { path, body } of await at.sink.until(100)) {
      const index = Number(path.slice(4));
      expect(JSON.parse(body)).toMatchObject({
        id: `c_${index}`,
        group_id: `g_${index % 7}`,
        call_id: `p_${index}`,
        text: `text ${index}`,
      });
    }
  });

  it('T25 of a call that was made for an older schema is an error that says what has changed, never silence', async () => {
    const at = await bench({ tools, version: '2' });
    const text = await at.ask('echo', { message: 'old name' }, { toolset_version: '1' });
    expect(text).toMatch(/^Error: .*text: .*message/);
  });

  it('T9 says that a number cannot be taken exactly, instead of working with another one', async () => {
    const at = await bench({ tools });
    const call = { operation: 'echo', id: 'n', callback_url: at.sink.url, group_id: 'thr_1', other: 0 };
    const body = `${JSON.stringify(call).slice(0, -2)}1e999,"arguments":{"text":1234567890123456789}}`;
    expect((await at.post('/invoke', body)).status).toBe(200);
    expect((await at.sink.resultOf('n')).text).toMatch(/^Error: .*1234567890123456789 cannot be taken exactly/);
  });

  it('T11 T24 is repeated for one Idempotency-Key, operation and arguments, however late, and for nothing else', async () => {
    const at = await bench({ tools });
    let posts = 0;
    const post = async (text: string, key?: string): Promise<string> => {
      const call = { operation: 'echo', arguments: { text }, id: 'same', callback_url: at.sink.url, group_id: 'thr_1' };
      expect((await at.post('/invoke', call, key === undefined ? {} : { 'idempotency-key': key })).status).toBe(200);
      const message = (await at.sink.until((posts += 1))).at(-1);
      return `${String(message?.headers['idempotency-key'])}: ${message?.body}`;
    };
    const first = await post('a', 'k1');
    const realNow = Date.now;
    try {
      Date.now = () => realNow() + 3_600_000;
      expect(await post('a', 'k1')).toBe(first);
    } finally {
      Date.now = realNow;
    }
    const others = [await post('a', 'k2'), await post('b', 'k1'), await post('a')];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  it('T11 T15 of a call that is posted again is the same message', async () => {
    const at = await bench({ tools });
    await at.invoke('echo', { text: 'a' }, { id: 'same' });
    await at.sink.until(1);
    await at.invoke('echo', { text: 'a' }, { id: 'same' });
    await at.sink.until(2);
    await quiet();
    expect(new Set(at.sink.delivered.map((each) => each.body)).size).toBe(1);
    expect(new Set(at.sink.delivered.map((each) => each.headers['idempotency-key'])).size).toBe(1);
    expect(at.sink.delivered.length).toBe(2);
  });
});

describe('a version', () => {
  it('T48 that is stale gets 409 and has no effect; the current one, and none, are served', async () => {
    const at = await bench({ tools, version: '2', refuseStale: true });
    const call = { operation: 'echo', arguments: { text: 'a' }, callback_url: at.sink.url, group_id: 'thr_1' };
    expect((await at.post('/invoke', { ...call, id: 'v1', toolset_version: '1' })).status).toBe(409);
    await quiet();
    expect(at.sink.delivered).toEqual([]);
    expect((await at.post('/invoke', { ...call, id: 'v2', toolset_version: '2' })).status).toBe(200);
    expect((await at.post('/invoke', { ...call, id: 'v3' })).status).toBe(200);
    await at.sink.until(2);
  });
});

describe('a deadline', () => {
  it('aborts the signal of the handler', async () => {
    let aborted = false;
    const watchful = defineTool(
      { name: 'watchful', description: 'Looks at its signal.', input: none, deadlineMs: 20 },
      (_given, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve((aborted = true)))),
    );
    const at = await bench({ tools: [watchful] });
    expect(await at.ask('watchful')).toMatch(/^Error: the tool did not finish/);
    await eventually(() => aborted, 'the abort');
  });
});
