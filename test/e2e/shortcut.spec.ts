// A message and a callback come in by one of two ways, before Fastify or through it. Nobody outside can tell which it was; that there
// are two is seen from inside, in http-server.spec.ts.
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openThread, scriptedAgent, type System, untilStatus } from './conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from './driven-tool-server.ts';
import { endSystems, startSystem } from './system.ts';

/** As everybody spells it, which is taken before Fastify, and as nearly nobody does. */
const ways = { before: 'application/json', through: 'application/json; charset="utf-8"' } as const;

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

/** Ids, times and places in a log, which are never twice the same. */
const varies = /(?:req|msg)[-_][0-9A-Za-z-]+|"position":\d+/g;

/** Everything that comes back, without what is different each time. */
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

/** The answer, which both ways gave. */
async function bothWays(url: string, body: string | Buffer, headers: Headers = {}): Promise<Told> {
  const before = await post(url, body, { 'content-type': ways.before, ...headers });
  expect(await post(url, body, { 'content-type': ways.through, ...headers })).toEqual(before);
  return before;
}

describe('a message', () => {
  const key = (): Headers => ({ authorization: `Bearer ${at.key}` });
  const messagesOf = (thread: string): string => `${at.url}/v1/threads/${thread}/messages`;

  it('is taken and answered alike', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const hello = JSON.stringify({ text: 'hello' });
    expect(await bothWays(messagesOf(thread), hello, key())).toMatchObject({ status: 202, body: '{"id":"…"}' });
    await untilStatus(at, thread, 'idle');
    expect(await bothWays(messagesOf(thread), hello, { ...key(), prefer: 'wait=20' })).toMatchObject({ status: 200 });
  });

  it('is refused alike', async () => {
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
      const told = await bothWays(messagesOf(elsewhere ?? thread), body, headers);
      expect([told.status, told.headers['content-type']]).toEqual([status, 'application/problem+json']);
    }
  });

  it('is told once, whichever way it comes again', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const headers = { ...key(), 'idempotency-key': `both-ways-${thread}` };
    const hello = JSON.stringify({ text: 'hello' });
    await post(messagesOf(thread), hello, { ...headers, 'content-type': ways.before });
    const again = await bothWays(messagesOf(thread), hello, headers);
    expect(again).toMatchObject({ status: 202, headers: { 'idempotency-replayed': 'true' } });
    expect(await bothWays(messagesOf(thread), '{"text":"other"}', headers)).toMatchObject({ status: 422 });
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

  it('before its body was here costs nobody anything, and is nobody’s failure', async () => {
    const thread = await openThread(at, await scriptedAgent(at, []));
    const messages = `${at.url}/v1/threads/${thread}/messages`;
    const authorization = `Bearer ${at.key}`;
    for (const way of Object.values(ways))
      for (const url of [messages, `${at.url}/callback/nobody`])
        await vanish(url, { authorization, 'content-type': way });
    const hello = JSON.stringify({ text: 'hello' });
    expect(await bothWays(messages, hello, { authorization, prefer: 'wait=20' })).toMatchObject({ status: 200 });
    expect(at.output()).not.toMatch(/request_failed|callback_failed/);
  });
});

describe('a callback', () => {
  it('is judged alike', async () => {
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
    for (const [status, to, body] of cases) expect([to, (await bothWays(to, body)).status]).toEqual([to, status]);
    await untilStatus(at, thread, 'idle');
  });
});
