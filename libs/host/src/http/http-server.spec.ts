import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createManualClock } from '@dormouse/adapter-memory';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

/** Next to nothing is asked of it, so next to nobody has to answer. */
async function started(): Promise<FastifyInstance> {
  const nobody = {} as never;
  const callbacks = { receive: async () => ({ status: 200 }) } as never;
  const options: HttpServerOptions = {
    ...{ ingress: nobody, callbacks, gate: nobody, logger: nobody },
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
    await started();
    const url = await server?.listen('127.0.0.1', 0);
    let throughFastify = 0;
    const onRequest = (): void => void (throughFastify += 1);
    subscribe('tracing:fastify.request.handler:start', onRequest);
    const post = async (path: string, type: string): Promise<readonly [number, number]> => {
      const before = throughFastify;
      const answer = await fetch(url + path, { method: 'POST', body: '{}', headers: { 'content-type': type } });
      return [answer.status, throughFastify - before];
    };
    const [message, callback] = ['/v1/threads/thr_1/messages', '/callback/token'];
    expect(await post(message, 'application/json')).toEqual([401, 0]);
    expect(await post(message, 'application/json; charset="utf-8"')).toEqual([401, 1]);
    expect(await post(`${message}?colour=red`, 'application/json')).toEqual([401, 1]);
    expect(await post(callback, 'application/json')).toEqual([200, 0]);
    expect(await post(callback, 'text/plain')).toEqual([200, 1]);
    unsubscribe('tracing:fastify.request.handler:start', onRequest);
  });
});
