// GET …/events: a page, or with `Accept: text/event-stream` the same as a stream that stays open.
//
// Invariants:
//   E1. A token in the query is accepted here and nowhere else, and only for a stream.
//   E2. A stream takes a seat of its tenant before anything is opened for it. (stream-seats.ts)
//   E3. The connection is watched before the first await: a reader that leaves while its stream is being opened ends
//       it.
//   E4. A stream ends within a second of its credential, which may expire or be revoked, and of its tenant's
//       suspension.
import { type Clock, type Metrics, noMetrics, type ThreadKey } from '@dormouse/ports';
import type { Credential, Ingress } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { eventsQuery, eventStreamQuery, threadDetailOperations } from '../../api/thread-details.ts';
import { readQuery } from '../data-plane/call.ts';
import { type Caller, type Doorkeeper, refuseQueryToken } from '../door/caller.ts';
import { writeStream } from './event-stream.ts';
import { createMeasureLag, type MeasureLag } from './stream-lag.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { patternOf } from '../server/route-name.ts';
import { createStreamSeats, type StreamSeats } from './stream-seats.ts';

export interface EventRouteDeps {
  readonly ingress: Ingress;
  readonly doorkeeper: Doorkeeper;
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  /** Default: none. */
  readonly metrics?: Metrics;
  /** Shared with all other streams. Default: seats of its own. */
  readonly seats?: StreamSeats;
}

const { access, path } = threadDetailOperations.listEvents;

export function registerEventRoute(server: FastifyInstance, deps: EventRouteDeps): void {
  const { clock, metrics = noMetrics, seats = createStreamSeats(deps.ingress.limits) } = deps;
  const measureLag = createMeasureLag(metrics, clock);
  server.get<{ Params: { id: string } }>(patternOf(path), async (request, reply) => {
    const reader = isStream(request) ? readerOf(reply) : null;
    const { tenant, rate, credential } = await admitted(deps, request, request.params.id);
    const key = { tenant, thread: request.params.id };
    reply.headers(rate);
    if (reader !== null) {
      const open = (signal: AbortSignal): Promise<FastifyReply> =>
        stream(deps, key, { reader, signal }, request, reply, measureLag);
      return seats.seated(tenant, () => whileGranted(deps, credential, reader, open));
    }
    const { after, cursor, limit, order } = readQuery(request, eventsQuery);
    const { events } = deps.ingress;
    const place = after ?? cursor;
    const page = unwrap(
      await (order === 'asc' ? events.page(key, place ?? 0, limit) : events.pageBack(key, place ?? null, limit)),
    );
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ data: page.data, next_cursor: page.nextCursor }));
  });
}

async function admitted({ doorkeeper }: EventRouteDeps, request: FastifyRequest, thread: string): Promise<Caller> {
  doorkeeper.admit(request.headers);
  const token = (request.query as { readonly access_token?: unknown }).access_token;
  if (!isStream(request)) refuseQueryToken(request); // (E1)
  const caller = await doorkeeper.identify(request, typeof token === 'string' ? token : undefined);
  await doorkeeper.authorize(caller, access, thread);
  return caller;
}

/** Aborts when the reader leaves; to be called before the first await. (E3) */
export function readerOf(reply: FastifyReply): AbortController {
  const reader = new AbortController();
  reply.raw.once('close', () => reader.abort('gone'));
  return reader;
}

/** Only a GET can be answered with a stream: HEAD is answered as for a page. */
export const isStream = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/event-stream\b/.test(headers.accept ?? '');

/** Runs with a signal that aborts when the reader leaves, the process stops, or the credential ends. (E4) */
export async function whileGranted<Result>(
  { ingress, stopping }: Pick<EventRouteDeps, 'ingress' | 'stopping'>,
  credential: Credential,
  reader: AbortController,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const end = ingress.watchCredential(credential);
  try {
    return await run(AbortSignal.any([reader.signal, stopping, end.signal]));
  } finally {
    end.stop();
  }
}

interface Reading {
  readonly reader: AbortController;
  /** Aborts when the stream is to end. */
  readonly signal: AbortSignal;
}

async function stream(
  { ingress }: EventRouteDeps,
  key: ThreadKey,
  { reader, signal }: Reading,
  request: FastifyRequest,
  reply: FastifyReply,
  measureLag: MeasureLag,
): Promise<FastifyReply> {
  const frames = unwrap(await ingress.follow.follow(key, resumeAfter(request), signal));
  if (frames === 'nothing_newer') return reply.status(204).send();
  reply.hijack();
  if (!reader.signal.aborted) await writeStream(reply.raw, request.id, frames, reader, measureLag());
  return reply;
}

/** The position after which to continue: the last one the reader saw, or the one in the query. */
function resumeAfter(request: FastifyRequest): number {
  const last = request.headers['last-event-id'];
  const query = readQuery(request, eventStreamQuery);
  if (last === undefined || last === '') return query.after ?? query.cursor ?? 0;
  if (typeof last !== 'string' || !/^\d{1,15}$/.test(last)) {
    throw new HttpProblem('INVALID_BODY', 'Last-Event-ID must be a position.');
  }
  return Number(last);
}
