import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { webhook } from './route.ts';
import { type Bench, bench, later } from '../spec/bench.ts';
import { eventually } from '../spec/callback-sink.ts';
import { defineTool } from '../define/tool.ts';

const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input: z.strictObject({ text: z.string() }) },
  ({ text }) => text,
);
const tools = [echo];

interface Raw {
  /** The bytes that the server has sent so far. */
  readonly heard: () => string;
  readonly isClosed: () => boolean;
  readonly say: (text: string) => void;
  readonly end: () => void;
}

function open(at: Bench, from = '127.0.0.1'): Raw {
  const { port } = new URL(at.server.url);
  let [heard, closed] = ['', false];
  const socket: Socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  socket.on('error', () => {});
  socket.on('close', () => (closed = true));
  later(async () => void socket.destroy());
  return {
    heard: () => heard,
    isClosed: () => closed,
    say: (text) => void socket.write(text),
    end: () => void socket.destroy(),
  };
}

const head = (path: string, fields: Record<string, string> = {}): string => {
  const all = { host: 'tools', 'content-type': 'application/json', 'content-length': '100000', ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
};

const statusOf = async (raw: Raw): Promise<number> => {
  await eventually(() => raw.heard().includes('\r\n') || raw.isClosed(), 'an answer', 20_000);
  return Number(raw.heard().split(' ')[1] ?? 0);
};

const signed = (ageSeconds: number): Record<string, string> => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.round(Date.now() / 1_000) - ageSeconds),
  'webhook-signature': 'v1,bm8=',
});

describe('a request whose body never comes', () => {
  it('T33 T38 is answered at once where its head says enough', async () => {
    const routes = [webhook({ path: '/hook', secret: 'shared', scheme: 'github', handle: () => {} })];
    const at = await bench({ tools, routes, auth: { bearer: 'right', hmac: 'key' } });
    const known = { authorization: 'Bearer right' };
    const cases: readonly [string, Record<string, string>, number][] = [
      ['/invoke', { authorization: 'Bearer wrong' }, 401],
      ['/close_thread', {}, 401],
      ['/cancel_tool_call', signed(3_600), 401],
      ['/elsewhere', known, 404],
      ['/migrate', known, 404],
      ['/choice/unknown', {}, 404],
      ['/hook', {}, 401],
      ['/invoke', { ...known, 'content-type': 'text/plain' }, 415],
      ['/invoke', { ...known, 'content-length': '2000001' }, 413],
    ];
    for (const [path, fields, status] of cases) {
      const raw = open(at);
      raw.say(head(path, fields));
      expect([path, await statusOf(raw)]).toEqual([path, status]);
    }
  });

  it('is closed after its time, and so is one whose head never ends; an answer may take longer', async () => {
    const slow = { method: 'GET' as const, path: '/slow', handle: async () => sleep(4_000, { status: 204 }) };
    const at = await bench({ tools, routes: [slow], limits: { requestMsMax: 1_500 } });
    const [body, unfinished, whole] = [open(at), open(at), open(at)];
    body.say(head('/invoke'));
    unfinished.say('POST /invoke HTTP/1.1\r\nhost: to');
    whole.say('GET /slow HTTP/1.1\r\nhost: tools\r\n\r\n');
    expect([await statusOf(body), await statusOf(unfinished)]).toEqual([408, 408]);
    await eventually(() => body.isClosed() && unfinished.isClosed(), 'the end of both');
    expect(await statusOf(whole)).toBe(204);
    expect(at.log).toEqual([]);
  });

  it('T23 holds no more memory than all of them may together; others are told to come again', async () => {
    const at = await bench({ tools, limits: { bodiesBytesMax: 100_000 } });
    const both = [open(at), open(at)];
    for (const raw of both) raw.say(head('/invoke') + ' '.repeat(80_000));
    await eventually(() => both.some((raw) => raw.heard() !== ''), 'a refusal');
    expect(both.map((raw) => raw.heard().slice(9, 12)).toSorted()).toEqual(['', '503']);
    for (const raw of both) raw.end();
    await expect.poll(() => at.ask('echo', { text: 'x'.repeat(50_000) })).toMatch(/^x/);
    expect(await at.ask('echo', { text: 'x'.repeat(50_000) })).toMatch(/^x/); // bytes that were read do not count
  });

  it.each(['body', 'head'] as const)('T23 counts against its peer while its %s is unfinished', async (part) => {
    const at = await bench({ tools, limits: { unfinishedPerPeerMax: 3 } });
    const sent = part === 'body' ? head('/invoke') : 'POST /invoke HTTP/1.1\r\n';
    const idle = Array.from({ length: 5 }, () => open(at));
    for (const raw of idle) raw.say('GET /healthz HTTP/1.1\r\nhost: tools\r\n\r\n');
    const ours = Array.from({ length: 3 }, () => open(at));
    for (const raw of ours) raw.say(sent);
    await sleep(300);
    const [fourth, stranger] = [open(at), open(at, '127.0.0.2')];
    for (const raw of [fourth, stranger]) raw.say(sent);
    expect(await statusOf(fourth)).toBe(503);
    await eventually(() => fourth.isClosed(), 'the end of the fourth');
    expect([...ours, stranger, ...idle].filter((raw) => raw.isClosed())).toEqual([]);
    expect(await at.ask('echo', { text: 'whole' })).toBe('whole'); // what arrives at once is served
  });

  it('counts nobody where all come from a proxy', async () => {
    const port = await freePort();
    const at = await bench({ tools, port, publicUrl: `http://127.0.0.1:${port}` });
    const many = Array.from({ length: 260 }, () => open(at));
    for (const raw of many) raw.say(head('/invoke'));
    await sleep(2_500);
    expect(many.filter((raw) => raw.isClosed())).toEqual([]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
