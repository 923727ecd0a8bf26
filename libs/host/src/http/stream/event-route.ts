// GET …/events: a page, or with `Accept: text/event-stream` the same as a stream that stays open.
//
// Invariants:
//   E1. A token in the query is accepted here and nowhere else, and only for a stream.
//   E2. A tenant has at most `streamsPerTenantMax` streams open in one process, including those that are being opened:
//       a seat is taken in the step that counts the seats, and released however the stream ends.
//   E3. The connection is watched before the first await: a reader that leaves while its stream is being opened ends
//       it.
import { type Clock, type Metrics, noMetrics, type ThreadKey } from '@dormouse/ports';
import type { Ingress } from '@dormouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { eventsQuery, eventStreamQuery, threadDetailOperations } from '../../api/thread-details.ts';
import { readQuery } from '../data-plane/call.ts';
import { authorize, type Caller, type Doorkeeper, refuseQueryToken } from '../door/caller.ts';
import { writeStream } from './event-stream.ts';
import { createMeasureLag, type MeasureLag } from './stream-lag.ts';
import { HttpProblem, unwrap } from '../problems/problem.ts';
import { patternOf } from '../server/route-name.ts';

export interface EventRouteDeps {
  readonly ingress: Ingress;
  readonly doorkeeper: Doorkeeper;
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  /** Default: none. */
  readonly metrics?: Metrics;
}

const { access, path } = threadDetailOperations.events;
const streamsPerTenantMax = 1_000;

export function registerEventRoute(server: FastifyInstance, deps: EventRouteDeps): void {
  const seats = new Map<string, number>();
  const { clock, metrics = noMetrics } = deps;
  const measureLag = createMeasureLag(metrics, clock);
  metrics.gauge('dormouse_event_streams', (report) => {
    report([...seats.values()].reduce((sum, taken) => sum + taken, 0));
  });
  server.get<{ Params: { id: string } }>(patternOf(path), async (request, reply) => {
    const reader = isStream(request) ? new AbortController() : null;
    if (reader !== null) reply.raw.once('close', () => reader.abort('gone')); // (E3)
    const { tenant, rate } = await admitted(deps, request, request.params.id);
    const key = { tenant, thread: request.params.id };
    reply.headers(rate);
    if (reader !== null) return seated(seats, tenant, () => stream(deps, key, reader, request, reply, measureLag));
    const { after, cursor, limit } = readQuery(request, eventsQuery);
    const page = unwrap(await deps.ingress.events.page(key, after ?? cursor ?? 0, limit));
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
  authorize(caller, access, thread);
  return caller;
}

/** Only a GET can be answered with a stream: HEAD is answered as for a page. */
const isStream = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && /\btext\/event-stream\b/.test(headers.accept ?? '');

/** (E2) @throws HttpProblem RATE_LIMITED */
async function seated<Result>(seats: Map<string, number>, tenant: string, use: () => Promise<Result>): Promise<Result> {
  const taken = seats.get(tenant) ?? 0;
  if (taken >= streamsPerTenantMax)
    throw new HttpProblem('RATE_LIMITED', `At most ${streamsPerTenantMax} streams may be open at once.`);
  seats.set(tenant, taken + 1);
  try {
    return await use();
  } finally {
    const left = (seats.get(tenant) ?? 1) - 1;
    if (left > 0) seats.set(tenant, left);
    else seats.delete(tenant);
  }
}

async function stream(
  { ingress, stopping }: EventRouteDeps,
  key: ThreadKey,
  reader: AbortController,
  request: FastifyRequest,
  reply: FastifyReply,
  measureLag: MeasureLag,
): Promise<FastifyReply> {
  const signal = AbortSignal.any([reader.signal, stopping]);
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
