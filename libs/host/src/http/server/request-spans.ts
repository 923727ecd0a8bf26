// The SERVER span of a request that changes something, and its context for what the request publishes.
//
// Invariants:
//   S1. POST, PUT, PATCH and DELETE have a span, whatever their answer; GET and HEAD have none.
//   S2. A client's valid `traceparent` is the parent; whether its trace is sampled is decided here, not there. A tool
//       server's is a link: its callback begins a trace of its own.
//   S3. The name has the path's template; a path itself, which may hold a token, is in no span.
//   S4. A callback that publishes has the ids that the log gives to the request which brought its input.
//   S5. The span of a request about a thread names it, also where the request is refused before the thread is looked
//       up; what is no id of a thread is in no span.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type InputBus,
  parseTraceparent,
  type SpanContext,
  type ThreadKey,
  traceparentOf,
  type TenantId,
} from '@dormouse/ports';
import { attribute, callbackContext, newSpanId, newTraceId, threadAttributes, type Tracing } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeOf } from './route-name.ts';

interface RequestTrace {
  /** (S4) */
  context: SpanContext;
  readonly isCallback: boolean;
  readonly parentId: string | null;
  readonly links: readonly SpanContext[];
  readonly startedAt: number;
  /** The thread that the request published for. */
  thread: ThreadKey | null;
}

/** Once its caller has been admitted. */
export type KnownRequest = FastifyRequest & { readonly caller?: { readonly tenant: TenantId } };

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
    const isForeign = isCallback || routeOf(request) === hookRoute;
    const parent = isForeign ? null : given; // (S2)
    const traceId = parent?.traceId ?? newTraceId();
    const trace: RequestTrace = {
      context: { traceId, spanId: newSpanId(), sampled: tracer.isSampled(traceId) },
      isCallback,
      parentId: parent?.spanId ?? null,
      links: isForeign && given !== null ? [given] : [],
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
    const { context, parentId, links, startedAt } = trace;
    const thread = trace.thread ?? threadOf(request, reply);
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
const hookRoute = '/hooks/{source}/{token}';
const threadRoute = '/v1/threads/{id}';
const threadId = /^thr_[0-9A-Za-z]{26}$/;

const headerOf = ({ headers }: FastifyRequest, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
};

/** The thread that an operation is about, unless its caller or the thread is unknown. (S5) */
export function threadOf(request: KnownRequest, { statusCode }: Pick<FastifyReply, 'statusCode'>): ThreadKey | null {
  const { caller } = request;
  if (caller === undefined || statusCode === 404 || !(routeOf(request) ?? '').startsWith(threadRoute)) return null;
  const { id } = request.params as { readonly id: string };
  return threadId.test(id) ? { tenant: caller.tenant, thread: id } : null;
}

/** A bus whose publications belong to the request that is being handled, unless they name another context. */
export function inRequestTrace(bus: InputBus, { tracer }: Tracing): InputBus {
  return {
    publish: (key, input, trace) => {
      const request = current.getStore();
      if (request === undefined) return bus.publish(key, input, trace);
      if (request.isCallback && request.thread === null) request.context = callbackContext(tracer, key, input.id); // (S4)
      request.thread ??= { tenant: key.tenant, thread: key.thread };
      return bus.publish(key, input, trace ?? traceparentOf(request.context));
    },
    consume: (consumer) => bus.consume(consumer),
  };
}
