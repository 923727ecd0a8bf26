import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCallbackServer } from './callback-server.ts';
import type { HttpServer } from './http-server.ts';

/** Fastify publishes on this channel whenever it creates a server. */
const channel = 'fastify.initialization';
let fastify: FastifyInstance | null = null;
let server: HttpServer | null = null;
const onMade = (message: unknown): void => {
  ({ fastify } = message as { readonly fastify: FastifyInstance });
};
beforeEach(async () => {
  subscribe(channel, onMade);
  const callbacks = { receive: async () => ({ status: 200 }) } as never;
  server = await createCallbackServer({ callbacks, logger: { info: () => {}, warn: () => {}, error: () => {} } });
});
afterEach(async () => {
  unsubscribe(channel, onMade);
  await server?.close();
});

const token = 'a-token-that-is-a-credential';

describe('a request that is no callback', () => {
  it.each([
    ['POST', `/callback/${token}/x`, 404, 'NOT_FOUND'],
    ['POST', `/${token}`, 404, 'NOT_FOUND'],
    ['GET', `/callback/${token}`, 405, 'METHOD_NOT_ALLOWED'],
    ['POST', `/callback/${token}%`, 404, 'NOT_FOUND'],
  ] as const)(
    'C1 is refused with a problem document that repeats no token: %s %s',
    async (method, url, status, code) => {
      const answer = await fastify?.inject({ method, url });
      expect([answer?.statusCode, answer?.headers['content-type']]).toEqual([status, 'application/problem+json']);
      expect(answer?.json()).toMatchObject({ status, code, instance: answer?.headers['x-request-id'] });
      expect(answer?.body).not.toContain(token);
      expect(answer?.headers['allow']).toBe(status === 405 ? 'POST' : undefined);
    },
  );
});
