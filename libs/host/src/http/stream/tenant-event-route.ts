// GET /v1/events: a page, or with `Accept: text/event-stream` the same as a stream that stays open.
//
// Invariants:
//   T1. Keys and sessions only; a token is refused, also in the query.
//   T2. Seats, the end with the process, and readers that leave: as every stream. (event-route E2, E3)
//   T3. `id:` is the cursor of the row. A stream that begins at the end says first where that is: a reader that
//       reconnects before the first row misses nothing.
//   T4. A key for some agents gets rows of their threads only. (caller K9)
import type { Ingress, Sees, TenantEvent, TenantEventPage } from '@dormouse/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tenantEventOperations, tenantEventsQuery } from '../../api/tenant-events.ts';
import { readQuery } from '../data-plane/call.ts';
import { type Caller, enter } from '../door/caller.ts';
import { HttpProblem } from '../problems/problem.ts';
import { patternOf } from '../server/route-name.ts';
import { type EventRouteDeps, isStream, readerOf, whileGranted } from './event-route.ts';
import { frameText, writeTexts } from './event-stream.ts';
import { createStreamSeats } from './stream-seats.ts';

const { access, path } = tenantEventOperations.listTenantEvents;

export function registerTenantEventRoute(server: FastifyInstance, deps: EventRouteDeps): void {
  const { ingress, doorkeeper, metrics, seats = createStreamSeats(ingress.limits) } = deps;
  const lagged = metrics?.counter('dormouse_event_streams_lagged_total');
  server.get(patternOf(path), async (request, reply) => {
    const reader = isStream(request) ? readerOf(reply) : null; // (T2)
    const caller = await enter(doorkeeper, request, access, undefined); // (T1)
    const { tenant, rate, credential } = caller;
    const sees = seesThreads(ingress, caller); // (T4)
    reply.headers(rate);
    const { after, limit } = placeOf(request);
    if (reader === null) {
      const { data, nextCursor } = await ingress.tenantEvents.page(tenant, after, limit, sees);
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .send(JSON.stringify({ data: data.map(rowJson), next_cursor: nextCursor }));
    }
    return seats.seated(tenant, () =>
      whileGranted(deps, credential, reader, async (signal) => {
        const pages = ingress.tenantEvents.follow(tenant, after, signal, sees);
        const first = await pages.next(); // a cursor that is none is refused before the stream begins
        if (first.done === true) throw new HttpProblem('UNAVAILABLE', 'The server is stopping.');
        reply.hijack();
        if (reader.signal.aborted) return reply;
        const texts = textsOf(first.value, pages, after === 'latest');
        await writeTexts(reply.raw, request.id, texts, reader, {
          lagged: () => {
            lagged?.add(1);
            return frameText({ frame: 'lagged' });
          },
        });
        return reply;
      }),
    );
  });
}

/** A key for some agents sees threads of these. (T4) */
function seesThreads({ agentOf }: Pick<Ingress, 'agentOf'>, { tenant, agents }: Caller): Sees | undefined {
  if (agents === null) return undefined;
  return async (thread) => {
    const agent = await agentOf({ tenant, thread });
    return agent !== null && agents.includes(agent);
  };
}

/** Where to go on: after the last row that the reader saw, or the cursor in the query. */
function placeOf(request: FastifyRequest): { readonly after: string | null; readonly limit: number } {
  const { after, cursor, limit } = readQuery(request, tenantEventsQuery);
  const last = isStream(request) ? request.headers['last-event-id'] : undefined;
  return { after: (typeof last === 'string' && last !== '' ? last : undefined) ?? after ?? cursor ?? null, limit };
}

async function* textsOf(
  first: TenantEventPage,
  rest: AsyncIterable<TenantEventPage>,
  atEnd: boolean,
): AsyncGenerator<string> {
  if (atEnd) yield `id: ${first.nextCursor}\n\n`; // (T3)
  yield* first.data.map(rowText);
  for await (const { data } of rest) yield* data.map(rowText);
}

const rowJson = ({ threadId, ...row }: TenantEvent) => ({
  cursor: row.cursor,
  thread_id: threadId,
  position: row.position,
  type: row.type,
  at: row.at,
});

const rowText = (row: TenantEvent): string =>
  `event: thread\nid: ${row.cursor}\ndata: ${JSON.stringify(rowJson(row))}\n\n`; // (T3)
