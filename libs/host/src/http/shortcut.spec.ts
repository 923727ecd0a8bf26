import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify, type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answer, isPlainJson, serverWithShortcuts } from './shortcut.ts';

const stopping = { signal: new AbortController() };
let server: FastifyInstance;
beforeEach(() => {
  stopping.signal = new AbortController();
  server = fastify({
    serverFactory: serverWithShortcuts({
      shortcuts: [
        () => false,
        ({ url }, response) => {
          if (url !== '/short') return false;
          answer(response, 201, { 'x-way': 'short' }, 'grün');
          return true;
        },
      ],
      keepAliveTimeoutMs: 4_321,
      stopping: stopping.signal.signal,
    }),
  });
  server.get('/*', (_request, reply) => reply.header('x-way', 'long').send('long'));
});
afterEach(() => server.close());

async function wayOf(path: string): Promise<string | null> {
  const answered = await fetch(`http://127.0.0.1:${(server.server.address() as AddressInfo).port}${path}`);
  await answered.text();
  return answered.headers.get('x-way');
}

describe('a server with shortcuts', () => {
  it('S1 takes what a shortcut takes, and hands on the rest', async () => {
    await server.listen({ host: '127.0.0.1', port: 0 });
    expect([await wayOf('/short'), await wayOf('/other')]).toEqual(['short', 'long']);
  });

  it('S2 takes nothing once it is stopping', async () => {
    await server.listen({ host: '127.0.0.1', port: 0 });
    stopping.signal.abort();
    expect(await wayOf('/short')).toBe('long');
  });

  it('S3 answers in bytes, with their number', async () => {
    await server.listen({ host: '127.0.0.1', port: 0 });
    const answered = await fetch(`http://127.0.0.1:${(server.server.address() as AddressInfo).port}/short`);
    expect([answered.status, answered.headers.get('content-length'), await answered.text()]).toEqual([
      201,
      '5',
      'grün',
    ]);
  });

  it('keeps connections as long as it is told, and has the timeouts of a server that Fastify makes', async () => {
    const own = fastify();
    const { keepAliveTimeout, ...ours } = timeoutsOf(server.server);
    expect(keepAliveTimeout).toBe(4_321);
    expect(ours).toEqual({ ...timeoutsOf(own.server), keepAliveTimeout: undefined });
    await own.close();
  });
});

const timeoutsOf = ({ keepAliveTimeout, requestTimeout, headersTimeout, timeout, maxRequestsPerSocket }: Server) => ({
  keepAliveTimeout,
  requestTimeout,
  headersTimeout,
  timeout,
  maxRequestsPerSocket,
});

it.each([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset=UTF-8', true],
  ['application/json; charset=latin1', false],
  ['application/jsonl', false],
  ['text/plain', false],
  [undefined, false],
])('%s is plain JSON: %s', (type, plain) => expect(isPlainJson({ 'content-type': type })).toBe(plain));
