// The one HTTP server of a process: Nest's routes, and beside them the plain Fastify routes (messages, events,
// callbacks, health and pages).
//
// Invariants:
//   H1. Nest has a context of its own, so none of its hooks reaches a plain route: Fastify would pass on what Nest adds
//       to the server itself to every context, including those made before.
//   H2. Every answer carries X-Request-Id; every answer that is not 2xx is a problem document (callbacks have their
//       own). Except Fastify's own 503 on a connection that is still open while the server closes.
//   H4. Key, host and token are judged before a byte of the body is read, and unfinished requests are bounded
//       (arrivals.ts).
//   H3. Closing accepts no new connection, ends streams and waits, lets requests finish, and then resolves.
import 'reflect-metadata';
import type { IncomingMessage } from 'node:http';
import type { CallbackGateway } from '@dormouse/runtime';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { registerConsole } from '../console/console-routes.ts';
import { registerSessionRoutes } from '../console/session-routes.ts';
import { AccessGuard } from '../door/access-guard.ts';
import type { BodyRoom } from './arrivals.ts';
import { type BoundedServerOptions, createBoundedServer } from './bounded-server.ts';
import { AnswerInterceptor } from '../control-plane/answer-interceptor.ts';
import { ApiModule, type ApiParts } from '../control-plane/api-module.ts';
import { callbackFailure, registerCallbackRoute } from '../data-plane/callback-route.ts';
import { createDoorkeeper, type Doorkeeper, type DoorSettings } from '../door/caller.ts';
import { noTenantOrigins } from '../door/tenant-origins.ts';
import { answerOrigin } from '../door/cross-origin.ts';
import { bodyBytesMaxOf, judgeHead } from '../door/head-judge.ts';
import { registerLinkRoutes } from '../people/link-routes.ts';
import { registerEventRoute } from '../stream/event-route.ts';
import { registerTenantEventRoute } from '../stream/tenant-event-route.ts';
import { createStreamSeats, type StreamSeats } from '../stream/stream-seats.ts';
import { registerAgUiRoute } from '../ui/ag-ui-route.ts';
import { registerAiSdkRoutes } from '../ui/ai-sdk-route.ts';
import { registerMessageRoute } from '../data-plane/message-route.ts';
import { registerHookRoute } from '../hooks/hook-route.ts';
import { registerMetricsRoute } from './metrics-route.ts';
import { type OpenRouteDeps, registerOpenRoutes } from './open-routes.ts';
import { bodyTooLarge, HttpProblem } from '../problems/problem.ts';
import { registerNoRoute } from '../problems/wrong-method.ts';
import { ProblemFilter, sendProblem } from '../problems/problem-filter.ts';
import { receiveBytes } from '../data-plane/request-bytes.ts';
import { standardHeaders } from './standard-headers.ts';
import { requireHost } from './unreadable-request.ts';

export interface HttpServerOptions extends ApiParts, OpenRouteDeps, DoorSettings, BoundedServerOptions {
  /** Null in a process that takes no callbacks. */
  readonly callbacks: CallbackGateway | null;
  /** Where the built console is. Null: there is none. Default: null. */
  readonly consoleDir?: string | null;
  /** Answers /metrics here; null where the operations port does, or metrics are off. Default: null. */
  readonly metricsText?: (() => Promise<string>) | null;
}

export interface HttpServer {
  /** The address it listens on. @throws the system's error, `EADDRINUSE` among them. */
  listen(host: string, port: number): Promise<string>;
  close(): Promise<void>;
}

/** How long a request that is still being sent may delay the stop of the process. */
const requestsFinishWithinMs = 10_000;

export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const stopping = new AbortController();
  const doorkeeper = createDoorkeeper(options.ingress, options);
  const { server, room } = createBoundedServer(options);
  const seats = createStreamSeats(options.ingress.limits, options.metrics);
  const shared = { seats, doorkeeper, room, stopping: stopping.signal };
  const parts: RouteParts = { ...options, ...shared, metricsText: options.metricsText ?? null };
  judgeRequests(server, parts);
  await registerPlainRoutes(server, parts);
  const app = await createNest(server, options);
  return {
    listen: (host, port) => server.listen({ host, port }),
    async close() {
      stopping.abort(); // (H3)
      const closeTimer = setTimeout(() => server.server.closeAllConnections(), requestsFinishWithinMs);
      await app.close();
      clearTimeout(closeTimer);
    },
  };
}

/** The dependencies of the plain routes. */
interface RouteParts extends HttpServerOptions {
  readonly metricsText: (() => Promise<string>) | null;
  readonly doorkeeper: Doorkeeper;
  readonly room: BodyRoom;
  readonly seats: StreamSeats;
  /** Aborts when the server begins to close. */
  readonly stopping: AbortSignal;
}

function judgeRequests(server: FastifyInstance, parts: RouteParts): void {
  const { doorkeeper, room, origins = noTenantOrigins } = parts;
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) =>
    bodyBytes(request, payload, room),
  );
  server.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) => noOtherBody(payload, room));
  server.addHook('onRequest', async (request, reply) => {
    for (const [name, value] of Object.entries(standardHeaders(request.id))) reply.raw.setHeader(name, value); // (H2)
    requireHost(request.raw);
    if (await answerOrigin(origins, doorkeeper, request, reply)) return reply;
    return judgeHead(doorkeeper, request, reply); // (H4)
  });
}

/** The body stays bytes until its schema is known; another charset than UTF-8 is another media type. */
async function bodyBytes(request: FastifyRequest, payload: IncomingMessage, room: BodyRoom): Promise<Buffer> {
  const limit = bodyBytesMaxOf(request);
  const { bytes, truncated } = await receiveBytes(payload, limit, room);
  if (truncated) throw bodyTooLarge(limit);
  const charset = /charset\s*=\s*"?([^;"\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset === undefined || /^utf-?8$/i.test(charset)) return bytes;
  throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send application/json in UTF-8.');
}

/** A request of another media type: its body must be empty, whatever its headers say. */
async function noOtherBody(payload: IncomingMessage, room: BodyRoom): Promise<undefined> {
  const { bytes } = await receiveBytes(payload, 0, room);
  if (bytes.length > 0) throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send application/json.');
}

async function registerPlainRoutes(server: FastifyInstance, parts: RouteParts): Promise<void> {
  const { callbacks, logger, room, ingress, consoleDir = null, publicUrl = null, origins = noTenantOrigins } = parts;
  const site = { isSecure: publicUrl?.startsWith('https:') === true };
  const shown = { consoleDir, consoleUrl: publicUrl, shownOrigins: origins.listed };
  const pages = { ...parts, ...shown, sessions: ingress.sessions, site };
  const register = (routes: (plain: FastifyInstance) => Promise<void> | void) =>
    server.register(async (plain) => {
      plain.setErrorHandler<FastifyError>((error, request, reply) => sendProblem(reply, request, error, logger));
      await routes(plain);
    });
  await register((plain) => {
    registerMessageRoute(plain, parts);
    registerEventRoute(plain, parts);
    registerTenantEventRoute(plain, parts);
    registerAiSdkRoutes(plain, parts);
    registerAgUiRoute(plain, parts);
    registerOpenRoutes(plain, parts);
    registerMetricsRoute(plain, parts);
    registerSessionRoutes(plain, pages);
  });
  await register(async (plain) => {
    await registerConsole(plain, pages);
    registerNoRoute(plain);
  });
  await register((plain) => {
    registerHookRoute(plain, parts);
    registerLinkRoutes(plain, parts);
  });
  if (callbacks === null) return;
  await server.register((plain, _, done) => {
    plain.setErrorHandler((error, _request, reply) => callbackFailure(reply, error, logger));
    registerCallbackRoute(plain, callbacks, room);
    done();
  });
}

/** (H1) */
async function createNest(server: FastifyInstance, options: HttpServerOptions): Promise<NestFastifyApplication> {
  const created = Promise.withResolvers<NestFastifyApplication>();
  await server.register(async (context) => created.resolve(await startNest(context, options)));
  return created.promise;
}

async function startNest(context: FastifyInstance, options: HttpServerOptions): Promise<NestFastifyApplication> {
  const { ingress, logger } = options;
  const app = await NestFactory.create<NestFastifyApplication>(ApiModule.over(options), new FastifyAdapter(context), {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  app.useGlobalFilters(new ProblemFilter(logger));
  app.useGlobalGuards(new AccessGuard());
  app.useGlobalInterceptors(new AnswerInterceptor(ingress));
  await app.init();
  return app;
}
