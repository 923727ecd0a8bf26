// The HTTP server of a process that takes only callbacks.
//
// Invariant:
//   C1. What is no callback is refused with a problem document, and no answer repeats a path: it may hold a token.
import { areKept, type Logger, type Metrics, noMetrics } from '@dormouse/ports';
import { type CallbackGateway, offTracing, type Tracing } from '@dormouse/runtime';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { type ArrivalLimits, arrivalOptions, boundPeers, createBodyRoom, standardArrivalLimits } from './arrivals.ts';
import { callbackFailure, registerCallbackRoute } from '../data-plane/callback-route.ts';
import type { HttpServer } from './http-server.ts';
import { countRequests } from './request-metrics.ts';
import { logRequests } from './access-log.ts';
import { traceRequests } from './request-spans.ts';
import { HttpProblem, nothingHere } from '../problems/problem.ts';
import { sendProblem } from '../problems/problem-filter.ts';
import { requestIds, standardHeaders } from './standard-headers.ts';
import { answerExpectations, answerUnreadable, endUnfinished, requireHost } from './unreadable-request.ts';

const keepAliveTimeoutMs = 65_000;
const tokenCharactersMax = 4_096;

export async function createCallbackServer(options: {
  readonly callbacks: CallbackGateway;
  readonly logger: Logger;
  readonly tracing?: Tracing;
  /** Default: `standardArrivalLimits`. */
  readonly arrivals?: ArrivalLimits;
  /** Default: none. */
  readonly metrics?: Metrics;
}): Promise<HttpServer> {
  const { callbacks, logger, arrivals: limits = standardArrivalLimits } = options;
  const { metrics = noMetrics, tracing = offTracing } = options;
  const room = createBodyRoom(limits.unfinishedBytesMax);
  const newId = requestIds();
  const refuse = (problem: Error, request: FastifyRequest, reply: FastifyReply): void =>
    sendProblem(reply.headers(standardHeaders(request.id)), request, problem, logger);
  const server = fastify({
    http: { ...arrivalOptions(limits), requireHostHeader: false }, // see `requireHost`
    genReqId: newId,
    frameworkErrors: (error, request, reply) => refuse(error, request, reply), // (C1)
    requestTimeout: limits.requestTimeoutMs,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, newId()),
    routerOptions: { maxParamLength: tokenCharactersMax },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
  });
  if (areKept(metrics)) countRequests(server, metrics);
  traceRequests(server, tracing);
  logRequests(server, logger);
  answerExpectations(server.server);
  server.addHook('onRequest', async ({ raw }) => requireHost(raw));
  boundPeers(server.server, limits.unfinishedPerPeerMax, (socket) => endUnfinished(socket, newId()));
  server.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, logger));
  server.setNotFoundHandler((request, reply) => refuse(noCallback(request), request, reply)); // (C1)
  registerCallbackRoute(server, callbacks, room);
  return {
    listen: (host, port) => server.listen({ host, port }),
    close: () => server.close(),
  };
}

function noCallback({ method, url }: FastifyRequest): HttpProblem {
  if (method === 'POST' || !/^\/callback\/[^/?]+(\?|$)/.test(url)) return nothingHere();
  return new HttpProblem('METHOD_NOT_ALLOWED', 'This path takes POST.', { headers: { allow: 'POST' } });
}
