// GET …/events: a page, or with `Accept: text/event-stream` the same as a stream that goes on.
//
// Invariants:
//   E1. `id:` is the position, on durable events only; a reader that comes back with the last one misses and repeats nothing.
//   E2. A reader that does not take what it is sent is dropped with `lagged`; it can never make us hold its backlog.
//   E3. A token in the query is taken here and nowhere else.
import type { ServerResponse } from 'node:http';
import { apiJson, type Frame, type Ingress } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { eventsQuery, eventStreamQuery, threadDetailOperations } from '../api/thread-details.ts';
import { checked } from './body.ts';
import { authorize, type Doorkeeper } from './caller.ts';
import { HttpProblem, unwrap } from './problem.ts';

export interface EventRouteDeps {
  readonly ingress: Ingress;
  readonly doorkeeper: Doorkeeper;
  readonly stopping: AbortSignal;
}

const { access } = threadDetailOperations.events;
const unsentBytesMax = 4 * 1024 * 1024;
const commentEveryMs = 15_000;
const retryMs = 2_000;

export function registerEventRoute(server: FastifyInstance, deps: EventRouteDeps): void {
  server.get<{ Params: { thread: string } }>('/v1/threads/:thread/events', async (request, reply) => {
    deps.doorkeeper.admit(request.headers);
    const streamed = /\btext\/event-stream\b/.test(request.headers.accept ?? '');
    const token = (request.query as { readonly access_token?: unknown }).access_token;
    if (token !== undefined && !streamed)
      throw new HttpProblem('UNAUTHENTICATED', 'A token in the query is accepted on the event stream only.'); // (E3)
    const caller = await deps.doorkeeper.identify(request.headers, typeof token === 'string' ? token : undefined);
    const { thread } = request.params;
    authorize(caller, access, thread);
    const key = { tenant: caller.tenant, thread };
    if (streamed) return stream(deps, key, request, reply);
    const { after, cursor, limit } = checked(
      eventsQuery,
      request.query,
      'A query parameter cannot be used; see errors.',
    );
    const page = unwrap(await deps.ingress.events.page(key, after ?? cursor ?? 0, limit));
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ data: page.data, next_cursor: page.nextCursor }));
  });
}

async function stream(
  deps: EventRouteDeps,
  key: { readonly tenant: string; readonly thread: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const gone = new AbortController();
  const frames = unwrap(
    await deps.ingress.follow.follow(key, resumeAfter(request), AbortSignal.any([gone.signal, deps.stopping])),
  );
  if (frames === 'nothing_newer') return reply.status(204).send();
  reply.hijack();
  const { raw } = reply;
  raw.on('close', () => gone.abort('gone'));
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-request-id': request.id,
    connection: 'keep-alive',
  });
  raw.write(`retry: ${retryMs}\n\n`);
  const comments = setInterval(() => raw.write(':\n\n'), commentEveryMs);
  try {
    for await (const frame of frames) {
      raw.write(frameText(frame));
      if (raw.writableLength > unsentBytesMax && !(await drained(raw, gone.signal))) {
        raw.write(frameText({ frame: 'lagged' })); // (E2)
        break;
      }
    }
  } finally {
    clearInterval(comments);
    gone.abort('over');
    raw.end();
  }
  return reply;
}

const patienceMs = 5_000;

/** Whether the reader took what was sent, within our patience. */
function drained(raw: ServerResponse, gone: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (is: boolean): void => {
      clearTimeout(timer);
      raw.off('drain', onDrain);
      gone.removeEventListener('abort', onGone);
      resolve(is);
    };
    const onDrain = (): void => answer(true);
    const onGone = (): void => answer(false);
    const timer = setTimeout(onGone, patienceMs);
    raw.once('drain', onDrain);
    gone.addEventListener('abort', onGone, { once: true });
  });
}

function resumeAfter(request: FastifyRequest): number {
  const last = request.headers['last-event-id'];
  const query = checked(eventStreamQuery, request.query, 'A query parameter cannot be used; see errors.');
  if (last === undefined || last === '') return query.after ?? query.cursor ?? 0;
  if (typeof last !== 'string' || !/^\d{1,15}$/.test(last))
    throw new HttpProblem('INVALID_BODY', 'Last-Event-ID must be a position.');
  return Number(last); // (E1)
}

export function frameText(frame: Frame): string {
  if (frame.frame === 'event')
    return `event: ${frame.event.type}\nid: ${frame.event.position}\ndata: ${JSON.stringify(frame.event)}\n\n`;
  const data = 'data' in frame ? JSON.stringify(apiJson(frame.data)) : '{}';
  return `event: ${frame.frame}\ndata: ${data}\n\n`;
}
