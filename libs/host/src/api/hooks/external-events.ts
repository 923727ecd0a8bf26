// Events from outside that a client tells a thread about.
import { z } from 'zod';
import { accepted, id, shortText } from '../field.ts';
import { textOf } from '../messages.ts';
import { operationsOf, threadWriter } from '../operation.ts';

export const newEvent = z
  .strictObject({ source: shortText, id: id.optional(), text: textOf, associative: z.boolean().default(true) })
  .meta({
    id: 'NewEvent',
    description:
      'What has happened, and where. With an `id` it is one event of its source in this thread, for ever. `associative: false` begins a thread below this one, where one may be opened.',
  });

export const externalEventOperations = operationsOf('thread', {
  postEvent: {
    route: 'POST /v1/threads/{id}/events',
    summary: 'Tell the thread that something has happened; it wakes, and the model reads it',
    access: threadWriter,
    body: newEvent,
    answers: { 202: accepted },
  },
});
