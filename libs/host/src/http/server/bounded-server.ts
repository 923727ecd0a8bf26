// What the servers of the client API and of callbacks have in common: requests are bounded while they arrive, named,
// measured and traced, and what is no request is answered with a problem document.
import { areKept, type Logger, type Metrics, noMetrics } from '@dormouse/ports';
import { offTracing, type Tracing } from '@dormouse/runtime';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { sendProblem } from '../problems/problem-filter.ts';
import { logRequests } from './access-log.ts';
import {
  type ArrivalLimits,
  arrivalOptions,
  type BodyRoom,
  boundPeers,
  createBodyRoom,
  standardArrivalLimits,
} from './arrivals.ts';
import { countRequests } from './request-metrics.ts';
import { traceRequests } from './request-spans.ts';
import { requestIds, standardHeaders } from './standard-headers.ts';
import { answerExpectations, answerUnreadable, endUnfinished } from './unreadable-request.ts';

export interface BoundedServerOptions {
  readonly logger: Logger;
  readonly tracing?: Tracing;
  /** Default: `standardArrivalLimits`. */
  readonly arrivals?: ArrivalLimits;
  /** Default: none. */
  readonly metrics?: Metrics;
}

interface BoundedServer {
  readonly server: FastifyInstance;
  readonly room: BodyRoom;
  /** Answers what no route takes. */
  readonly refuse: (problem: Error, request: FastifyRequest, reply: FastifyReply) => void;
}

const paramCharactersMax = 4_096;
const keepAliveTimeoutMs = 65_000;

export function createBoundedServer(options: BoundedServerOptions): BoundedServer {
  const { logger, arrivals = standardArrivalLimits, metrics = noMetrics, tracing = offTracing } = options;
  const newId = requestIds();
  const refuse = (problem: Error, request: FastifyRequest, reply: FastifyReply): void =>
    sendProblem(reply.headers(standardHeaders(request.id)), request, problem, logger);
  const server = fastify({
    http: { ...arrivalOptions(arrivals), requireHostHeader: false }, // see `requireHost`
    requestTimeout: arrivals.requestTimeoutMs,
    routerOptions: { maxParamLength: paramCharactersMax },
    genReqId: newId,
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, newId()),
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    pluginTimeout: 0, // Nest starts inside one, and may take long on a slow machine
    frameworkErrors: (error, request, reply) => refuse(error, request, reply),
  });
  traceRequests(server, tracing);
  logRequests(server, logger);
  if (areKept(metrics)) countRequests(server, metrics);
  answerExpectations(server.server);
  boundPeers(server.server, arrivals.unfinishedPerPeerMax, (socket) => endUnfinished(socket, newId()));
  return { server, room: createBodyRoom(arrivals.unfinishedBytesMax), refuse };
}
