// What happens in all threads of a tenant.
import { z } from 'zod';
import { limitOf, time } from './field.ts';
import { operationsOf, reader } from './operation.ts';

/** A cursor of this list; what it may hold is judged by the list. */
const cursor = z.string().min(1);

export const tenantEventsQuery = z.strictObject({
  after: cursor.optional(),
  cursor: cursor.optional(),
  limit: limitOf(100, 200),
});

export const tenantEvent = z
  .object({ cursor: z.string(), thread_id: z.string(), position: z.int(), type: z.string(), at: time })
  .meta({
    id: 'TenantEvent',
    description: 'That there is an event, and where: `GET /v1/threads/{id}/events` has its content.',
  });

export const tenantEventOperations = operationsOf('threads', {
  listTenantEvents: {
    route: 'GET /v1/events',
    summary:
      'Durable events of all threads, newest last; with `Accept: text/event-stream` the same goes on as a stream',
    access: reader,
    query: tenantEventsQuery,
    answers: { 200: z.object({ data: z.array(tenantEvent), next_cursor: z.string() }) },
    problems: ['CURSOR_INVALID'],
  },
});
