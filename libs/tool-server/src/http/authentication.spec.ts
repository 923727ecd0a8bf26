import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createAuthentication } from './authentication.ts';
import { serve } from '../serve.ts';
import { bench, nextId } from '../spec/bench.ts';
import { quiet } from '../spec/callback-sink.ts';
import { defineTool } from '../define/tool.ts';

const whoAmI = defineTool(
  { name: 'who_am_i', description: 'Names the user.', input: z.strictObject({}), requiresUser: true },
  (_given, { userId }) => `You are ${userId}.`,
);
const nosy = defineTool(
  { name: 'nosy', description: 'Would like to know.', input: z.strictObject({}) },
  (_given, context) => ({
    userId: context.userId ?? 'not told',
  }),
);
const bearer = { authorization: 'Bearer correct-horse' };

function signed(secret: string, body: string, at = Date.now()): Record<string, string> {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const time = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', key).update(`msg_1.${time}.${body}`).digest('base64');
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': `v1,bm9wZQ== v1,${signature}` };
}

describe('authentication', () => {
  it('T33 an invocation without it is rejected when it is enabled, and has no effect', async () => {
    const at = await bench({ tools: [whoAmI], auth: { bearer: 'correct-horse' } });
    const call = {
      operation: 'who_am_i',
      arguments: {},
      id: nextId(),
      callback_url: at.sink.url,
      group_id: 't',
      user_id: 'ann',
    };
    expect((await at.post('/invoke', call)).status).toBe(401);
    expect((await at.post('/invoke', call, { authorization: 'Bearer wrong' })).status).toBe(401);
    await quiet();
    expect(at.sink.delivered).toEqual([]);
    expect((await at.post('/invoke', call, bearer)).status).toBe(200);
    expect((await at.sink.resultOf(call.id)).text).toBe('You are ann.');
  });

  it('T33 a tool that acts for a user needs it, and a user', async () => {
    await expect(serve({ name: 'x', tools: [whoAmI] })).rejects.toThrow('needs a server with authentication');
    const at = await bench({ tools: [whoAmI], auth: { bearer: 'correct-horse' } });
    const call = {
      operation: 'who_am_i',
      arguments: {},
      id: nextId(),
      callback_url: at.sink.url,
      group_id: 't',
      user_id: null,
    };
    await at.post('/invoke', call, bearer);
    expect((await at.sink.resultOf(call.id)).text).toMatch(/^Error: this tool acts for a user/);
  });

  it('T47 a tool that does not act for a user is not told who it is', async () => {
    const at = await bench({ tools: [nosy] });
    expect(await at.ask('nosy', {}, { user_id: 'ann' })).toBe('{"userId":"not told"}');
  });

  it('T38 notices need it as invocations do', async () => {
    const at = await bench({ tools: [nosy], auth: { bearer: ['old-secret', 'correct-horse'] } });
    for (const path of ['/invoke', '/close_thread', '/cancel_tool_call']) {
      const refused = await at.post(path, '{}');
      expect([refused.status, await refused.text()]).toEqual([401, '']);
      expect((await at.post(path, '{}', bearer)).status).not.toBe(401);
      expect((await at.post(path, '{}', { authorization: 'Bearer old-secret' })).status).not.toBe(401);
    }
  });

  it.each(['plain-key', `whsec_${Buffer.from('a key of bytes').toString('base64')}`])(
    'T38 a signature by Standard Webhooks is checked over time and body: %s',
    async (secret) => {
      const at = await bench({ tools: [nosy], auth: { hmac: secret } });
      const body = '{"thread_id":"thr_1"}';
      const status = async (headers: Record<string, string>, sent = body): Promise<number> =>
        (await at.post('/close_thread', sent, headers)).status;
      expect(await status({})).toBe(401);
      expect(await status(signed('another', body))).toBe(401);
      expect(await status(signed(secret, body), `${body} `)).toBe(401);
      expect(await status(signed(secret, body, Date.now() - 600_000))).toBe(401);
      expect(await status({ ...signed(secret, body), 'webhook-timestamp': 'now' })).toBe(401);
      expect(await status(signed(secret, body))).toBe(200);
    },
  );

  it('callbacks go only where they may, if that is said', async () => {
    const at = await bench({ tools: [nosy], callbackOrigins: ['https://agent.example.com'] });
    const call = { operation: 'nosy', arguments: {}, id: nextId(), callback_url: at.sink.url, group_id: 't' };
    expect((await at.post('/invoke', call)).status).toBe(403);
  });
});

describe('too much', () => {
  it('T23 of invocations is answered 503, which comes again, and what was taken is worked on', async () => {
    const at = await bench({ tools: [nosy], limits: { invocationsPerSecond: 1, invocationsBurst: 5 } });
    const flood = Array.from({ length: 30 }, (_, index) =>
      at.post('/invoke', {
        operation: 'nosy',
        arguments: {},
        id: `f_${index}`,
        callback_url: at.sink.url,
        group_id: 't',
      }),
    );
    const answers = await Promise.all(flood);
    const taken = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status === 503);
    expect([taken.length, refused.length]).toEqual([5, 25]);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    await at.sink.until(5);
  });

  it('T23 of calls at once is answered 503', async () => {
    const endless = defineTool(
      { name: 'endless', description: 'Never ends.', input: z.strictObject({}) },
      (_given, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error()))),
    );
    const at = await bench({ tools: [endless], limits: { callsRunningMax: 2 } });
    await at.invoke('endless');
    await at.invoke('endless');
    await quiet(20);
    await expect(at.invoke('endless')).rejects.toThrow('503');
  });

  it('T23 T35 of notices is answered 200 and not looked at', async () => {
    const at = await bench({ tools: [nosy], limits: { noticesPerSecond: 1, noticesBurst: 2 } });
    const flood = Array.from({ length: 10 }, () => at.post('/close_thread', { thread_id: 'thr_1' }));
    expect((await Promise.all(flood)).every((answer) => answer.status === 200)).toBe(true);
    expect(at.log.filter((line) => line.includes('too many notices')).length).toBe(8);
  });
});

describe('a signature', () => {
  afterEach(() => void vi.useRealTimers());

  it('T33 T38 is the one that Standard Webhooks has published, at its own time and for its own bytes', () => {
    const { accepts } = createAuthentication({ hmac: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const body = Buffer.from('{"test": 2432232314}');
    expect(accepts(headers, body)).toBe(false); // years ago
    vi.useFakeTimers({ now: 1_614_265_330_000, toFake: ['Date'] });
    expect(accepts(headers, body)).toBe(true);
    expect(accepts(headers, Buffer.from('{"test": 2432232315}'))).toBe(false);
    expect(accepts({ ...headers, 'webhook-id': 'msg_other' }, body)).toBe(false);
  });

  it.each([
    [`whsec_${Buffer.from('a key of bytes').toString('base64')}`, Buffer.from('a key of bytes')],
    ['clé ☃', Buffer.from('clé ☃')],
    ['whsec_not base64', Buffer.from('whsec_not base64')],
    ['whsec_A', Buffer.from('whsec_A')],
  ])('T38 has as its key the bytes behind whsec_, or those of any other text: %s', (secret, key) => {
    const { accepts } = createAuthentication({ hmac: ['another', secret] });
    const time = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', key).update(`m.${time}.{}`).digest('base64');
    const headers = { 'webhook-id': 'm', 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
    expect(accepts(headers, Buffer.from('{}'))).toBe(true);
    expect(accepts({ ...headers, 'webhook-timestamp': `${time}s` }, Buffer.from('{}'))).toBe(false);
    expect(accepts({ ...headers, 'webhook-signature': `v2,${signature}` }, Buffer.from('{}'))).toBe(false);
    expect(accepts({ ...headers, 'webhook-signature': `v1 v1,${signature}` }, Buffer.from('{}'))).toBe(true);
  });

  it('T38 covers the bytes: one that was made for U+FFFD does not fit bytes that are decoded to it', () => {
    const { accepts } = createAuthentication({ hmac: 'k' });
    expect(accepts(signed('k', '"\uFFFD"'), Buffer.from('"\uFFFD"'))).toBe(true);
    expect(accepts(signed('k', '"\uFFFD"'), Buffer.from([0x22, 0xff, 0x22]))).toBe(false);
    expect(accepts(signed('k', '{}'), Buffer.from('\uFEFF{}'))).toBe(false);
  });
});
