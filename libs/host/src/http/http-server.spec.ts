import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createManualClock } from '@dormouse/adapter-memory';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCallbackServer } from './callback-server.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './http-server.ts';

/** Fastify says so whenever it makes a server. */
const channel = 'fastify.initialization';
let made: FastifyInstance[] = [];
let server: HttpServer | null = null;
const onMade = (message: unknown): void => void made.push((message as { fastify: FastifyInstance }).fastify);
beforeEach(() => {
  made = [];
  subscribe(channel, onMade);
});
afterEach(async () => {
  unsubscribe(channel, onMade);
  await server?.close();
});

const nobody = {} as never;
/** It knows a key, and so a request comes as far as its handler. (H4) */
const ingress = { keys: { authenticate: () => ({ tenant: 'acme', name: 'ops', scopes: ['threads:write'] }) } } as never;
const gate = { pass: () => ({}) };
const callbacks = { receive: async () => ({ status: 200 }) } as never;

/** Next to nothing is asked of it, so next to nobody has to answer. */
async function started(): Promise<FastifyInstance> {
  const options: HttpServerOptions = {
    ...{ ingress, callbacks, gate, logger: nobody },
    ...{ clock: createManualClock(), devClock: null, hosts: new Set(), version: '0', ready: async () => null },
  };
  server = await createHttpServer(options);
  const [fastify] = made;
  if (fastify === undefined) throw new Error('no server was made');
  await fastify.ready();
  return fastify;
}

/** The functions that run around the handler of a route, by its last part and method. */
function hooksOf(fastify: FastifyInstance, route: string): readonly string[] {
  const lines = fastify.printRoutes({ commonPrefix: false, includeHooks: true }).split('\n');
  const at = lines.findIndex((line) => line.endsWith(route));
  if (at < 0) throw new Error(`there is no route ${route}`);
  const after = lines.slice(at + 1);
  const end = after.findIndex((line) => !line.includes('• ('));
  return after.slice(0, end).flatMap((line) => line.match(/\w+\(\)/g) ?? []);
}

describe('the server', () => {
  it('H1 runs none of Nest’s hooks on plain routes: one of our own, and no more', async () => {
    const fastify = await started();
    for (const route of ['/messages (POST)', '/events (GET)', '/callback/:token (POST)', '/healthz (GET)'])
      expect([route, hooksOf(fastify, route)]).toEqual([route, ['anonymous()']]);
    expect(hooksOf(fastify, '/messages (GET)')).toContain('runMiddie()'); // a route of Nest's, in the same list
  });

  it('takes messages and callbacks before Fastify, when they are as they always are', async () => {
    const fastify = await started();
    expect(await wayOf(fastify, message)).toBe('before');
    expect(await wayOf(fastify, `${message}?colour=red`)).toBe('through');
    expect(await wayOf(fastify, message, 'application/json; charset="utf-8"')).toBe('through');
    expect(await wayOf(fastify, '/callback/token')).toBe('before');
    expect(await wayOf(fastify, '/callback/token', 'text/plain')).toBe('through');
  });

  it('H3 takes nothing before Fastify once it closes', async () => {
    const fastify = await started();
    await server?.close();
    expect(await wayOf(fastify, message)).toBe('neither');
  });
});

describe('the server of callbacks', () => {
  it('takes them before Fastify too', async () => {
    server = await createCallbackServer({ callbacks, logger: nobody });
    const [fastify] = made;
    await fastify?.ready();
    expect(await wayOf(fastify, '/callback/token')).toBe('before');
    expect(await wayOf(fastify, '/callback/token', 'text/plain')).toBe('through');
    await server.close();
    expect(await wayOf(fastify, '/callback/token')).toBe('neither');
  });
});

const message = '/v1/threads/thr_1/messages';

/** Which handler a request meets that nobody sent: ours, the route's, or none, because Fastify refuses it. */
async function wayOf(
  fastify: FastifyInstance | undefined,
  url: string,
  type = 'application/json',
): Promise<'before' | 'through' | 'neither'> {
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: 'POST', url, complete: true });
  request.headers['content-type'] = type;
  Object.assign(request.headers, { 'content-length': '2', host: 'localhost', authorization: 'Bearer key' });
  request.push('{}');
  request.push(null);
  const response = new ServerResponse(request);
  let isThrough = false;
  const onHandler = (): void => void (isThrough = true);
  subscribe('tracing:fastify.request.handler:start', onHandler);
  fastify?.server.emit('request', request, response);
  while (!response.writableEnded) await turn();
  unsubscribe('tracing:fastify.request.handler:start', onHandler);
  if (isThrough) return 'through';
  return response.statusCode === 503 ? 'neither' : 'before';
}

describe('a request that is not let in', () => {
  it.each([
    ['a message', message],
    ['a message that comes through Fastify', `${message}?colour=red`],
    ['a thread', '/v1/threads'],
  ])('H4 %s is answered before a byte of its body is read', async (_what, url) => {
    const fastify = await started();
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: 'POST', url });
    Object.assign(request.headers, { 'content-type': 'application/json', 'content-length': '2', host: 'localhost' });
    const response = new ServerResponse(request);
    fastify.server.emit('request', request, response);
    while (!response.writableEnded) await turn();
    expect([response.statusCode, request.listenerCount('data')]).toEqual([401, 0]);
  });
});
