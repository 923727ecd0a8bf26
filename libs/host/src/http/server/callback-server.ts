// The HTTP server of a process that takes only callbacks.
import { areKept, type Logger, type Metrics, noMetrics } from '@dormouse/ports';
import { type CallbackGateway, offTracing, type Tracing } from '@dormouse/runtime';
import { fastify } from 'fastify';
import { type ArrivalLimits, arrivalOptions, boundPeers, createBodyRoom, standardArrivalLimits } from './arrivals.ts';
import { callbackFailure, registerCallbackRoute } from '../data-plane/callback-route.ts';
import type { HttpServer } from './http-server.ts';
import { countRequests } from './request-metrics.ts';
import { logRequests } from './access-log.ts';
import { traceRequests } from './request-spans.ts';
import { requestIds } from './standard-headers.ts';
import { answerUnreadable, endUnfinished } from './unreadable-request.ts';

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
  const server = fastify({
    http: arrivalOptions(limits),
    requestTimeout: limits.requestTimeoutMs,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, newId()),
    routerOptions: { maxParamLength: tokenCharactersMax },
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
  });
  if (areKept(metrics)) countRequests(server, metrics);
  traceRequests(server, tracing);
  logRequests(server, logger);
  boundPeers(server.server, limits.unfinishedPerPeerMax, (socket) => endUnfinished(socket, newId()));
  server.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, logger));
  registerCallbackRoute(server, callbacks, room);
  return {
    listen: (host, port) => server.listen({ host, port }),
    close: () => server.close(),
  };
}
