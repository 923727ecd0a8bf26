// Routes that need no key: health, readiness, the OpenAPI document, and the reference with the pages that problems
// link to.
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../api/openapi.ts';
import { HttpProblem } from '../problems/problem.ts';
import { registerReference } from '../reference/reference-routes.ts';

export interface OpenRouteDeps {
  /** Whether the process can do its work now; a reason when it cannot. */
  readonly ready: () => Promise<string | null>;
  readonly version: string;
}

export function registerOpenRoutes(server: FastifyInstance, { ready, version }: OpenRouteDeps): void {
  let document: string | null = null;
  server.get('/healthz', (_request, reply) => reply.header('content-type', 'application/json').send('{"status":"ok"}'));
  server.get('/readyz', async (_request, reply) => {
    const reason = await ready();
    if (reason !== null) throw new HttpProblem('UNAVAILABLE', reason);
    return reply.header('content-type', 'application/json').send('{"status":"ready"}');
  });
  server.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(version));
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
  registerReference(server, version);
}
