// The SERVER span of a request that changes something, and its context for what the request publishes.
//
// Invariants:
//   S1. POST, PUT, PATCH and DELETE have a span, whatever their answer; GET and HEAD have none.
//   S2. A client's valid `traceparent` is the parent; whether its trace is sampled is decided here, not there. A tool
//       server's is a link: its callback begins a trace of its own.
//   S3. The name has the path's template; a path itself, which may hold a token, is in no span.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type InputBus, parseTraceparent, type SpanContext, type ThreadKey, traceparentOf } from '@dormouse/ports';
import { attribute, newSpanId, newTraceId, threadAttributes, type Tracing } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeOf } from './route-name.ts';

interface RequestTrace {
  readonly context: SpanContext;
  readonly parentId: string | null;
  readonly links: readonly SpanContext[];
  readonly startedAt: number;
  /** The thread that the request published for. */
  thread: ThreadKey | null;
}

const current = new AsyncLocalStorage<RequestTrace>();
const traces = new WeakMap<FastifyRequest, RequestTrace>();

/** The context of the request that is being handled, or null. */
export const currentContext = (): SpanContext | null => current.getStore()?.context ?? null;

export function traceRequests(server: FastifyInstance, { tracer, wallNow }: Tracing): void {
  if (!tracer.isOn) return;
  server.addHook('onRequest', (request, _reply, done) => {
    if (!changes.has(request.method)) return done(); // (S1)
    const given = parseTraceparent(headerOf(request, 'traceparent'));
    const isCallback = routeOf(request) === callbackRoute;
    const parent = isCallback ? null : given; // (S2)
    const traceId = parent?.traceId ?? newTraceId();
    const trace: RequestTrace = {
      context: { traceId, spanId: newSpanId(), sampled: tracer.isSampled(traceId) },
      parentId: parent?.spanId ?? null,
      links: isCallback && given !== null ? [given] : [],
      startedAt: wallNow(),
      thread: null,
    };
    traces.set(request, trace);
    current.run(trace, done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const trace = traces.get(request);
    if (trace !== undefined) record(trace, request, reply);
    done();
  });

  function record(trace: RequestTrace, request: FastifyRequest, reply: FastifyReply): void {
    const { context, parentId, links, startedAt, thread } = trace;
    const { method } = request;
    const route = routeOf(request); // (S3)
    const status = reply.statusCode;
    tracer.record({
      name: route === null ? method : `${method} ${route}`,
      kind: 'server',
      context,
      parentId,
      startedAt,
      endedAt: wallNow(),
      attributes: {
        ...(thread === null ? {} : threadAttributes(thread, startedAt)),
        [attribute.httpMethod]: method,
        [attribute.httpRoute]: route ?? undefined,
        [attribute.httpStatus]: status,
      },
      links,
      error: status >= 500 ? String(status) : null,
    });
  }
}

const changes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const callbackRoute = '/callback/{token}';

const headerOf = ({ headers }: FastifyRequest, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
};

/** A bus whose publications belong to the request that is being handled, unless they name another context. */
export function inRequestTrace(bus: InputBus): InputBus {
  return {
    publish: (key, input, trace) => {
      const request = current.getStore();
      if (request === undefined) return bus.publish(key, input, trace);
      request.thread ??= { tenant: key.tenant, thread: key.thread };
      return bus.publish(key, input, trace ?? traceparentOf(request.context));
    },
    consume: (consumer) => bus.consume(consumer),
  };
}
