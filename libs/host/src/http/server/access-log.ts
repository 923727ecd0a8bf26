// One line at info for every request that has been answered: caller's tenant, method, route, status and time; never a
// path, which may hold a token.
import type { Logger } from '@dormouse/ports';
import type { FastifyInstance } from 'fastify';
import { type KnownRequest, threadOf } from './request-spans.ts';
import { routeOf } from './route-name.ts';

/** A logger that says whether it writes lines of this level at all. */
type AccessLogger = Logger & { readonly writes?: (level: 'info') => boolean };

export function logRequests(server: FastifyInstance, logger: AccessLogger): void {
  if (logger.writes?.('info') !== true) return;
  server.addHook('onResponse', (request: KnownRequest, reply, done) => {
    logger.info('request', {
      tenant: request.caller?.tenant,
      thread: threadOf(request, reply)?.thread,
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      request: request.id,
    });
    done();
  });
}
