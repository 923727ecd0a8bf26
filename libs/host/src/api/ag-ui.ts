// The door of AG-UI 1.0: what its clients send.
import { contentItemsMax } from '@dormouse/protocol';
import { z } from 'zod';
import { id } from './field.ts';
import { operationsOf, talkerOrAnswerer } from './operation.ts';

const messagesMax = 10_000;

/** Of a message only what is used here is checked. */
const runMessage = z.looseObject({
  id,
  role: z.string().max(100),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })).max(contentItemsMax)]).optional(),
});

const resumeEntry = z.looseObject({
  interruptId: id,
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});

export const runInput = z
  .looseObject({
    threadId: id,
    runId: id,
    messages: z.array(runMessage).max(messagesMax),
    resume: z.array(resumeEntry).max(1_000).optional(),
  })
  .meta({
    id: 'AgUiRunInput',
    description:
      'As clients of AG-UI send it: `threadId` is the thread’s `external_id`. Of `messages` only the last one of the user ' +
      'is used; tools, state and context of the page are ignored. `resume` answers all interrupts of the run before.',
  });

export const agUiOperations = operationsOf('ui', {
  agUiRun: {
    route: 'POST /v1/ui/ag-ui/{agent}',
    summary: 'A run of AG-UI 1.0: the last message of the user, or the answers to the interrupts of the run before',
    access: { ...talkerOrAnswerer, thread: 'found_later' },
    body: runInput,
    problems: ['QUOTA_EXCEEDED'],
    answers: { 200: 'text/event-stream' },
  },
});
