import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createManualClock } from '@dormouse/adapter-memory';
import { labelValuesMax } from '@dormouse/ports';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './http-server.ts';

/** Fastify publishes on this channel whenever it creates a server. */
const channel = 'fastify.initialization';
let made: FastifyInstance[] = [];
let server: HttpServer | null = null;
const templates = new Set<string>();
const onMade = (message: unknown): void => {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  fastify.addHook('onRoute', ({ url }) => void templates.add(url));
  made.push(fastify);
};
beforeEach(() => {
  made = [];
  templates.clear();
  subscribe(channel, onMade);
});
afterEach(async () => {
  unsubscribe(channel, onMade);
  await server?.close();
});

const nobody = {} as never;
/** It knows a key, and so a request comes as far as its handler. (H4) */
const ingress = {
  keys: { look: async () => ({ key: { tenant: 'acme', name: 'ops', scopes: ['threads:write'] }, ended: null }) },
} as never;
const gate = { pass: async () => ({}) };
const callbacks = { receive: async () => ({ status: 200 }) } as never;

/** Most dependencies are never called, so they are placeholders. */
async function started(): Promise<FastifyInstance> {
  const options: HttpServerOptions = {
    ...{ ingress, models: nobody, callbacks, gate, logger: nobody },
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

  it('has fewer routes than a label of a metric has values, whatever their methods', async () => {
    await started();
    expect(templates.size).toBeGreaterThan(50);
    expect(templates.size).toBeLessThan(labelValuesMax);
  });
});

const message = '/v1/threads/thr_1/messages';

describe('a request that is not let in', () => {
  it.each([
    ['a message', message],
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
