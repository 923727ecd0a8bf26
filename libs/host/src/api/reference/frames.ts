// The frames of a thread's event stream that are no durable events.
import { z } from 'zod';
import { time } from '../field.ts';
import { waitingOnList } from '../messages.ts';
import { choice, view } from '../thread-details.ts';
import { tenantEvent } from '../tenant-events.ts';
import { open } from './event-parts.ts';
import { threadEvent } from './events.ts';

export const delta = z
  .object({
    completion_id: z.string(),
    attempt: z.int(),
    offset: z.int(),
    kind: open('text', 'reasoning', 'tool_input'),
    index: z.int(),
    text: z.string(),
  })
  .meta({
    id: 'DeltaFrame',
    description:
      '`event: delta`. A piece of the running completion; a new attempt replaces what was shown. The first one after a ' +
      'connect has the text so far.',
  });

export const retrying = z
  .object({
    completion_id: z.string(),
    attempt: z.int(),
    code: z.string(),
    detail: z.string(),
    host: z.string().nullable(),
    next_at: time,
  })
  .meta({ id: 'RetryingFrame', description: '`event: retrying`. The model failed and is asked again at `next_at`.' });

export const login = z
  .object({ tool_call_id: z.string(), auth_url: z.string(), expires_at: time })
  .meta({ id: 'OauthFrame', description: '`event: oauth`. A login that a user can open; it comes again while open.' });

export const statusFrame = z.object({ status: z.string(), waiting_on: waitingOnList }).meta({
  id: 'StatusFrame',
  description: '`event: status`, on connect and after each change.',
});

export const emptyFrame = z.object({}).meta({
  id: 'EmptyFrame',
  description:
    '`event: lagged`: the reader was too slow and is dropped; reconnect with the last id. `event: end`: the thread is closed.',
});

const frame = <Schema extends z.ZodType>(event: string, data: Schema) =>
  z.object({ event: z.literal(event), data }).meta({ description: `The frame \`${event}\`.` });

const streamFrame = z
  .union([
    z
      .object({ event: z.string(), id: z.int(), data: threadEvent })
      .meta({ description: 'A durable event: `event` is its type, `id` its position.' }),
    frame('delta', delta),
    frame('retrying', retrying),
    frame('choice', choice),
    frame('oauth', login),
    frame('view', view),
    frame('status', statusFrame),
    frame('lagged', emptyFrame),
    frame('end', emptyFrame),
  ])
  .meta({ id: 'StreamFrame', description: 'One frame of an event stream; its `data` is JSON on one line.' });

/** As it is on the wire; the comment keeps proxies from ending a silent stream. */
const streamExample = `retry: 2000

event: status
data: {"status":"thinking","waiting_on":[]}

event: message_accepted
id: 3
data: {"position":3,"at":"2026-01-05T09:30:00.000Z","type":"message_accepted","turn_id":"msg_01","cause":{"kind":"message","id":"msg_01"},"message_id":"msg_01","content":[{"type":"text","text":"Hello"}]}

event: delta
data: {"completion_id":"cmp_1","attempt":1,"offset":0,"kind":"text","index":0,"text":"Hi"}

:

`;

const tenantFrame = z
  .union([
    z
      .object({ event: z.literal('thread'), id: z.string(), data: tenantEvent })
      .meta({ description: 'An event of one of the threads; `id` is its cursor.' }),
    frame('lagged', emptyFrame),
  ])
  .meta({ id: 'TenantFrame', description: 'One frame of the tenant’s event stream; its `data` is JSON on one line.' });

const tenantExample = `retry: 2000

event: thread
id: ~5B~22events~22~2C~2217~22~5D
data: {"cursor":"~5B~22events~22~2C~2217~22~5D","thread_id":"thr_01KE6HWA00M8Q2W4E6R8T0Y2U4","position":3,"type":"message_accepted","at":"2026-01-05T09:30:00.000Z"}

:

`;

/** What operations answer as a stream, by their ids; the schema is that of one frame. */
export const streams: Readonly<
  Record<string, { readonly description: string; readonly frame: z.ZodType; readonly example: string }>
> = {
  listEvents: {
    description: 'Server-sent events: durable events with their position as `id`, and frames without one.',
    frame: streamFrame,
    example: streamExample,
  },
  listTenantEvents: {
    description: 'Server-sent events: `event: thread` with the cursor as `id`.',
    frame: tenantFrame,
    example: tenantExample,
  },
};
