import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { addShortcuts, type Answer, answerWith, isPlainJson, type Shortcut } from './shortcut.ts';

/** A request that nobody sent, and its answer. */
function exchange(url: string): readonly [IncomingMessage, ServerResponse] {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  return [request, new ServerResponse(request)];
}

describe('a server with shortcuts', () => {
  let server: Server;
  let stopping: AbortController;
  let ways: string[];
  const short: Shortcut = ({ url }) => {
    if (url !== '/short') return false;
    ways.push('short');
    return true;
  };
  beforeEach(() => {
    ways = [];
    stopping = new AbortController();
    server = createServer(() => void ways.push('long'));
    addShortcuts(server, [() => false, short], stopping.signal);
  });

  it('S1 takes what a shortcut takes, and hands on the rest', () => {
    for (const url of ['/short', '/other']) server.emit('request', ...exchange(url));
    expect(ways).toEqual(['short', 'long']);
  });

  it('S2 takes nothing once it is stopping', () => {
    stopping.abort();
    server.emit('request', ...exchange('/short'));
    expect(ways).toEqual(['long']);
  });
});

describe('its answer', () => {
  const told: Answer = { status: 201, headers: { 'x-way': 'short' }, body: 'grün' };
  const runs = new AbortController().signal;

  it('S3 says how many bytes it has', async () => {
    const [, response] = exchange('/short');
    answerWith(response, Promise.resolve(told), runs);
    await turn();
    expect([response.statusCode, response.writableEnded, response.destroyed]).toEqual([201, true, false]);
    expect(headOf(response)).toMatch(/^HTTP\/1\.1 201 .*x-way: short\r\ncontent-length: 5\r\n/s);
    expect(headOf(response)).not.toContain('connection: close');
  });

  it('S2 ends the connection of who asked before the server began to close', async () => {
    const [, response] = exchange('/short');
    const stopping = new AbortController();
    const known = Promise.withResolvers<Answer>();
    answerWith(response, known.promise, stopping.signal);
    stopping.abort();
    known.resolve(told);
    await turn();
    expect(headOf(response)).toContain('connection: close');
  });

  it.each([
    ['nobody knows what to say', () => Promise.reject(new Error('a bug'))],
    ['what is to be said cannot be', () => Promise.resolve({ ...told, headers: { 'x-way': 'a\nb' } })],
  ])('S4 where %s the connection ends, and nothing else', async (_, answer) => {
    const [, response] = exchange('/short');
    answerWith(response, answer(), runs);
    await turn();
    expect(response.destroyed).toBe(true);
  });
});

/** Node keeps what it would have sent. */
const headOf = (response: ServerResponse): string => String((response as unknown as { _header: unknown })._header);

it.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset=UTF-8', true],
  ['application/json; charset=latin1', false],
  ['application/jsonl', false],
  ['text/plain', false],
  [undefined, false],
])('%s is plain JSON: %s', (type, plain) => expect(isPlainJson({ 'content-type': type })).toBe(plain));
