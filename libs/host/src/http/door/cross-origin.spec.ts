import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createManualClock } from '@dormouse/adapter-memory';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from '../server/http-server.ts';
import { parseAllowedOrigins } from './allowed-origins.ts';
import { createTenantOrigins } from './tenant-origins.ts';

const listed = 'https://app.example.com';
const foreign = 'https://evil.example';
const host = 'localhost';
let server: HttpServer;
let fastify: FastifyInstance;

const none = { list: async () => ({ data: [], nextCursor: null }) };
const unused = {} as never;
const ingress = {
  keys: { look: async () => ({ key: null, ended: null }) },
} as never;

beforeAll(async () => {
  const onMade = (message: unknown): void => {
    ({ fastify } = message as { fastify: FastifyInstance });
  };
  subscribe('fastify.initialization', onMade);
  server = await createHttpServer({
    ...{ ingress, callbacks: null, gate: { pass: async () => ({}) }, logger: unused },
    ...{ clock: createManualClock(), devClock: null, hosts: new Set(), version: '0', ready: async () => null },
    models: unused,
    origins: createTenantOrigins(parseAllowedOrigins(listed).origins, { tenants: none, clock: createManualClock() }),
  });
  unsubscribe('fastify.initialization', onMade);
  await fastify.ready();
});
afterAll(() => server.close());

const preflight = (url: string, origin: string): Promise<LightMyRequestResponse> =>
  fastify.inject({
    method: 'OPTIONS',
    url,
    headers: {
      host,
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  });

const corsHeaders = ({ headers }: LightMyRequestResponse): readonly string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('CORS', () => {
  it.each(['/v1/threads', '/v1/threads/thr_1/messages', '/v1/threads/thr_1/events', '/openapi.json', '/nowhere'])(
    'X2 X3 answers a preflight of a listed origin for %s',
    async (url) => {
      const answer = await preflight(url, listed);
      expect([answer.statusCode, answer.body]).toEqual([204, '']);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': listed,
        'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-match, last-event-id, prefer',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        vary: 'Origin',
      });
      expect(corsHeaders(answer)).not.toContain('access-control-allow-credentials');
    },
  );

  it.each(['/v1/threads', '/nowhere'])('X2 refuses a preflight of another origin for %s', async (url) => {
    const answer = await preflight(url, foreign);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([403, 'FORBIDDEN']);
    expect(answer.json<{ detail: string }>().detail).toContain('DORMOUSE_ALLOWED_ORIGINS');
    expect(corsHeaders(answer)).toEqual([]);
    expect(answer.headers.vary).toBe('Origin');
  });

  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/v1/threads', 401],
    ['POST', '/v1/threads/thr_1/messages', 401],
    ['GET', '/v1/threads/thr_1/events', 401],
    ['GET', '/nowhere', 404],
  ] as const)('X1 X3 a listed origin may read the answer to %s %s, which is %i', async (method, url, status) => {
    const answer = await fastify.inject({ method, url, headers: { host, origin: listed } });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': listed,
      'access-control-expose-headers': 'x-request-id, ratelimit, ratelimit-policy, retry-after, location, etag',
      vary: 'Origin',
    });
    expect(corsHeaders(answer)).toHaveLength(2);
  });

  it('X1 another origin gets no such header, and no answer', async () => {
    const answer = await fastify.inject({ method: 'GET', url: '/v1/threads', headers: { host, origin: foreign } });
    expect(answer.statusCode).toBe(403);
    expect(answer.json<{ detail: string }>().detail).toContain('DORMOUSE_ALLOWED_ORIGINS');
    expect(corsHeaders(answer)).toEqual([]);
  });

  it.each(['/healthz', '/v1/threads', '/nowhere', '/v1/threads/%E0%A4%A'])(
    'X4 the answer to %s depends on the origin, also where none was sent',
    async (url) => {
      const answer = await fastify.inject({ method: 'GET', url, headers: { host } });
      expect(answer.headers.vary).toBe('Origin');
      expect(corsHeaders(answer)).toEqual([]);
    },
  );
});
