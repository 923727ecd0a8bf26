// Routes that need no key: health, readiness, the OpenAPI document, and the pages that problems link to.
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../api/openapi.ts';
import { errorPage, isProblemCode } from '../problems/problem-codes.ts';
import { HttpProblem } from '../problems/problem.ts';
import { patternOf } from './route-name.ts';

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
  server.get<{ Params: { CODE: string } }>(patternOf('/errors/{CODE}'), (request, reply) => {
    const { CODE: code } = request.params;
    if (!isProblemCode(code)) throw new HttpProblem('NOT_FOUND', 'There is no such code.');
    return reply.header('content-type', 'text/markdown; charset=utf-8').send(errorPage(code));
  });
}
