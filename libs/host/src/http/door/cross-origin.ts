// CORS: what a browser must read in an answer before a page of another origin may see it. Our own and no plugin of
// Fastify: a plugin's headers are of the reply, which neither a hijacked stream nor a path that cannot be parsed sends.
//
// Invariants:
//   X1. A listed origin gets the headers with every answer, problems and streams too. Others get none.
//   X2. A preflight is answered before any credential is asked for, with 204; that of another origin with 403.
//   X3. No answer allows credentials: cookies are for the pages of this server alone.
//   X4. `Vary: Origin` is on every answer (standard-headers.ts): a cache must not mix answers to two origins.
import type { FastifyReply, FastifyRequest } from 'fastify';

import { type Doorkeeper, unlistedOrigin } from './caller.ts';
import type { TenantOrigins } from './tenant-origins.ts';

const allowedHeaders = 'authorization, content-type, idempotency-key, if-match, last-event-id, prefer';
const exposedHeaders = 'x-request-id, ratelimit, ratelimit-policy, retry-after, location, etag';
const allowedMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const preflightKeptS = 600;

/**
 * To be called before anything that may refuse a request. True when the request was a preflight, which is answered.
 * @throws HttpProblem FORBIDDEN for a preflight of an origin that is not listed.
 */
export async function answerOrigin(
  origins: TenantOrigins,
  doorkeeper: Doorkeeper,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const { origin } = request.headers;
  if (origin !== undefined) await origins.look(origin);
  const isListed = origin !== undefined && origins.allows(origin);
  if (isListed) {
    reply.raw.setHeader('access-control-allow-origin', origin); // (X1)
    reply.raw.setHeader('access-control-expose-headers', exposedHeaders);
  }
  if (!isPreflight(request)) return false;
  doorkeeper.admit(request.headers);
  if (!isListed) throw unlistedOrigin(); // (X2)
  void reply
    .status(204)
    .headers({
      'access-control-allow-methods': allowedMethods,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': String(preflightKeptS),
    })
    .send();
  return true;
}

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
