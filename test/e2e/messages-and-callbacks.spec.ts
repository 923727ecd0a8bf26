// The two requests that every turn consists of, a message and a callback: what they are answered, however their media
// type is spelled.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread, scriptedAgent, type System, untilStatus } from './conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from './driven-tool-server.ts';
import { endSystems, startSystem } from './system.ts';

/** As most clients spell it, and as few do. */
const spellings = { usual: 'application/json', rare: 'application/json; charset="utf-8"' } as const;

let at: System;
let tools: DrivenToolServer;
beforeAll(async () => {
  at = await startSystem();
  tools = await driveToolServer(at);
});
afterAll(async () => {
  await tools.close();
  await endSystems();
});

type Headers = Readonly<Record<string, string>>;

interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Ids, times and places in a log, which differ every time. */
const varies = /(?:req|msg)[-_][0-9A-Za-z-]+|"position":\d+/g;

/** The whole answer, without what differs each time. */
function post(url: string, body: string | Buffer, headers: Headers): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { date: _date, ...told } = response.headers;
        const text = Buffer.concat(chunks).toString();
        const marked = {
          ...told,
          'x-request-id': typeof told['x-request-id'],
          'content-length': typeof told['content-length'],
        };
        resolve({ status: response.statusCode ?? 0, headers: marked, body: text.replaceAll(varies, '…') });
      });
    });
    sent.on('error', reject).end(body);
  });
}

/** The answer, the same for both spellings. */
async function answerOf(url: string, body: string | Buffer, headers: Headers = {}): Promise<Told> {
  const usual = await post(url, body, { 'content-type': spellings.usual, ...headers });
  expect(await post(url, body, { 'content-type': spellings.rare, ...headers })).toEqual(usual);
  return usual;
}

describe('a message', () => {
  const key = (): Headers => ({ authorization: `Bearer ${at.key}` });
  const messagesOf = (thread: string): string => `${at.url}/v1/threads/${thread}/messages`;

  it('is taken', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const hello = JSON.stringify({ text: 'hello' });
    expect(await answerOf(messagesOf(thread), hello, key())).toMatchObject({ status: 202, body: '{"id":"…"}' });
    await untilStatus(at, thread, 'idle');
    expect(await answerOf(messagesOf(thread), hello, { ...key(), prefer: 'wait=60' })).toMatchObject({ status: 200 });
  });

  it('is refused with a problem', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const { token } = (await at.request('POST', `/v1/threads/${thread}/tokens`, { can: ['read'], ttl_s: 60 })).json;
    const hello = JSON.stringify({ text: 'hello' });
    const cases: readonly (readonly [number, string | Buffer, Headers, string?])[] = [
      [400, '{"text":', key()],
      [400, '', key()],
      [400, Buffer.from([0x7b, 0xff, 0x7d]), key()],
      [422, '{"text":"a","colour":"red"}', key()],
      [422, '{"text":7}', key()],
      [400, '{"text":"a","text":"b"}', key()],
      [422, '['.repeat(5_000), key()],
      [413, Buffer.alloc(9 * 1024 * 1024, 0x20), key()],
      [404, hello, key(), 'thr_nobody'],
      [401, hello, {}],
      [401, hello, { authorization: 'Bearer nobody' }],
      [403, hello, { authorization: `Bearer ${token}` }],
      [403, hello, { ...key(), host: 'evil.example' }],
      [403, hello, { ...key(), origin: 'https://evil.example' }],
      [422, hello, { ...key(), 'idempotency-key': 'k'.repeat(256) }],
    ];
    for (const [status, body, headers, elsewhere] of cases) {
      const told = await answerOf(messagesOf(elsewhere ?? thread), body, headers);
      expect([told.status, told.headers['content-type']]).toEqual([status, 'application/problem+json']);
    }
  });

  it('is told once, however it comes again', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const headers = { ...key(), 'idempotency-key': `once-${thread}` };
    const hello = JSON.stringify({ text: 'hello' });
    await post(messagesOf(thread), hello, { ...headers, 'content-type': spellings.usual });
    const again = await answerOf(messagesOf(thread), hello, headers);
    expect(again).toMatchObject({ status: 202, headers: { 'idempotency-replayed': 'true' } });
    expect(await answerOf(messagesOf(thread), '{"text":"other"}', headers)).toMatchObject({ status: 422 });
  });
});

describe('a client that goes away', () => {
  /** Sends half of a body, and hangs up. */
  const vanish = (url: string, headers: Headers): Promise<void> =>
    new Promise((resolve) => {
      const sent = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-length': '100' } });
      sent.on('error', () => {}).on('close', resolve);
      sent.write('{"text":', () => setTimeout(() => sent.destroy(), 10));
    });

  it('before its body has come costs other clients nothing, and is not logged as a failure', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const messages = `${at.url}/v1/threads/${thread}/messages`;
    const authorization = `Bearer ${at.key}`;
    for (const type of Object.values(spellings))
      for (const url of [messages, `${at.url}/callback/nobody`])
        await vanish(url, { authorization, 'content-type': type });
    const hello = JSON.stringify({ text: 'hello' });
    expect(await answerOf(messages, hello, { authorization, prefer: 'wait=60' })).toMatchObject({ status: 200 });
    expect(at.output()).not.toMatch(/request_failed|callback_failed/);
  });
});

describe('a callback', () => {
  it('is judged', async () => {
    const thread = await openThread(
      at,
      await scriptedAgent(at, [[toolCall('work')], [{ text: 'done' }]], { tool_servers: [tools.name] }),
    );
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const { callback_url: url, id, group_id } = await tools.invocation(0);
    const result = JSON.stringify({ type: 'tool_result', group_id, id, text: 'well' });
    const cases: readonly (readonly [number, string, string | Buffer])[] = [
      [401, `${url.slice(0, -4)}AAAA`, result],
      [400, url, '{"type":'],
      [400, url, ''],
      [413, url, Buffer.alloc(12 * 1024 * 1024, 0x20)],
      [422, url, JSON.stringify({ type: 'tool_result', group_id, id })],
      [200, url, result],
    ];
    for (const [status, to, body] of cases) expect([to, (await answerOf(to, body)).status]).toEqual([to, status]);
    await untilStatus(at, thread, 'idle');
  });
});
