import { createMemoryMetrics } from '@dormouse/adapter-memory';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { countRequests } from './request-metrics.ts';

it('M1 counts by template, whatever the method', async () => {
  const metrics = createMemoryMetrics();
  const server = fastify();
  countRequests(server, metrics);
  server.get('/v1/things/:id', () => ({}));
  server.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/v1/*',
    handler: (_request, reply) => reply.status(404).send(),
  });
  await server.inject({ method: 'GET', url: '/v1/things/1' });
  await server.inject({ method: 'HEAD', url: '/v1/things/2?x=y' });
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'] as const) await server.inject({ method, url: '/v1/nothing' });
  await server.inject({ method: 'POST', url: '/elsewhere' });
  expect(metrics.counted).toEqual(
    new Map([
      ['dormouse_http_requests_total /v1/things/{id} 200', 2],
      ['dormouse_http_requests_total unknown 404', 5],
    ]),
  );
  await server.close();
});
