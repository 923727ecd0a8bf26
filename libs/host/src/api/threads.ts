// Threads: requests, answers and operations.
import { z } from 'zod';
import {
  accepted,
  id,
  listOf,
  listOrder,
  listQuery,
  metadata,
  name,
  nullableTime,
  queryPosition,
  shortText,
  time,
} from './field.ts';
import { newMessage, waitingOnList } from './messages.ts';
import { operationsOf, talker, threadReader, threadWriter, reader } from './operation.ts';

const statuses = ['opening', 'parked', 'closed', 'thinking', 'waiting', 'idle'] as const;

export const newThread = z
  .strictObject({
    agent: name,
    agent_version: z.int().min(1).nullable().default(null),
    user_id: id.nullable().default(null),
    title: shortText.nullable().default(null),
    external_id: id.nullable().default(null),
    if_exists: z.enum(['return', 'fail']).nullable().default(null),
    metadata: metadata.default({}),
    message: newMessage.nullable().default(null),
  })
  .meta({ id: 'NewThread' });

export const threadPatch = z
  .strictObject({ title: shortText.nullable().optional(), metadata: metadata.optional() })
  .meta({ id: 'ThreadPatch', description: '`metadata` replaces all labels.' });

const summary = {
  id: z.string(),
  agent: z.object({ name: z.string(), version: z.int() }),
  status: z.enum(statuses),
  parent: z.string().nullable(),
  family: z.string(),
  title: z.string().nullable().meta({ description: 'The first 120 characters of the first message until it has one.' }),
  user_id: z.string().nullable(),
  external_id: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  created_at: time,
  updated_at: time,
  position: z.int(),
  waiting_on: waitingOnList,
};

export const threadSummary = z.object(summary).meta({ id: 'ThreadSummary' });

export const subscriptionFields = {
  tool_call_id: z.string(),
  operation: z.string(),
  since: time,
  events: z.int(),
  last_event_at: nullableTime,
};

export const thread = z
  .object({
    ...summary,
    waiting: z.string().nullable().meta({
      description:
        'What it waits for, in a sentence for people; null when it is idle or closed, and with `?at=`. The words may change.',
    }),
    subscriptions: z.array(z.object(subscriptionFields)),
    usage: z.object({
      input_tokens: z.int(),
      output_tokens: z.int(),
      completions: z.int(),
      tool_calls: z.int(),
      active_ms: z.int(),
      waiting_ms: z.int(),
    }),
    last_error: z.object({ code: z.string(), detail: z.string(), at: time }).nullable(),
    problems: z.array(
      z.object({ code: z.string(), detail: z.string(), since: time, tool_call_id: z.string().optional() }),
    ),
    toolsets: z
      .array(z.object({ tool_server: z.string(), sha256: z.string(), tools: z.array(z.string()), stale: z.boolean() }))
      .meta({ description: 'The tools that it has, by tool server; `POST …/toolsets/refresh` loads them anew.' }),
  })
  .meta({ id: 'Thread' });

const idText = z.string().max(200);
const moment = time.transform((text) => Date.parse(text));
const idFilters = { agent: idText, parent: idText, user_id: idText, external_id: idText };
const timeFilters = { created_after: moment, updated_after: moment };

const threadFilterFields = {
  ...listQuery.shape,
  ...z.object({ status: z.enum(statuses), ...idFilters, ...timeFilters, order: listOrder }).partial().shape,
};

export const threadFilter = z
  .object(threadFilterFields)
  .catchall(z.string().max(1_000))
  .superRefine((query, context) => {
    for (const field of Object.keys(query)) {
      if (Object.hasOwn(threadFilterFields, field) || /^metadata\[[^\]]+\]$/.test(field)) continue;
      context.addIssue({ code: 'unrecognized_keys', keys: [field], input: query });
    }
  });

export const forkRequest = z
  // oxlint-disable-next-line unicorn/no-thenable -- the API’s own name
  .strictObject({ position: z.int().min(1), then: z.enum(['wait', 'ask_again']).default('wait') })
  .meta({ id: 'ForkRequest', description: '`ask_again` asks the model at once; `wait` waits for a message.' });

export const interruption = z.strictObject({ include_human: z.boolean().default(false) }).meta({ id: 'Interruption' });

const batchFilter = z
  .strictObject({ status: z.enum(statuses), ...idFilters, metadata, ...timeFilters })
  .partial()
  .meta({ id: 'ThreadBatchFilter', description: 'As in the list of threads; an empty one is for all threads.' });

export const threadBatch = z
  .strictObject({
    action: z.enum(['interrupt', 'close']),
    filter: batchFilter,
    dry_run: z.boolean().default(false),
    cursor: z.string().max(2_000).nullable().default(null),
  })
  .meta({ id: 'ThreadBatch' });

export const batchOutcome = z
  .object({
    matched: z.int().meta({
      description: 'Threads that were asked, or would be: those of the filter that the action changes something of.',
    }),
    next_cursor: z.string().nullable().meta({
      description: 'Null when all are done; else the `cursor` of the next request: one takes at most 10 000 threads.',
    }),
  })
  .meta({ id: 'ThreadBatchOutcome' });

export const threadOperations = operationsOf('threads', {
  openThread: {
    route: 'POST /v1/threads',
    summary: 'Open a thread; it can be used at once',
    access: threadWriter,
    body: newThread,
    answers: { 201: thread, 200: thread },
    location: '/v1/threads/{{id}}',
    problems: ['QUOTA_EXCEEDED', 'ALREADY_EXISTS'],
  },
  listThreads: {
    route: 'GET /v1/threads',
    summary: 'Threads, newest first unless `order=asc`; `metadata[key]=value` filters by a label',
    access: reader,
    query: threadFilter,
    answers: { 200: listOf(threadSummary) },
  },
  getThread: {
    route: 'GET /v1/threads/{id}',
    summary: 'One thread; `?at=17` shows it as of that position',
    access: threadReader,
    query: z.strictObject({ at: queryPosition.optional() }),
    answers: { 200: thread },
  },
  patchThread: {
    route: 'PATCH /v1/threads/{id}',
    summary: 'Set title and labels',
    access: threadWriter,
    body: threadPatch,
    answers: { 200: thread },
  },
  forkThread: {
    route: 'POST /v1/threads/{id}/fork',
    summary: 'A new thread with the history up to and including an event',
    access: threadWriter,
    body: forkRequest,
    problems: ['QUOTA_EXCEEDED', 'CONTENT_ERASED'],
    answers: { 201: thread },
    location: '/v1/threads/{{id}}',
  },
  batchThreads: {
    route: 'POST /v1/threads:batch',
    summary: 'Interrupt or close all threads of a filter; `dry_run` counts them alone',
    access: threadWriter,
    audit: { action: batchAction },
    body: threadBatch,
    answers: { 202: batchOutcome },
  },
  interruptThread: {
    route: 'POST /v1/threads/{id}/interrupt',
    summary: 'Stop the turn: the model, and the calls it waits for',
    access: talker,
    body: interruption,
    bodyOptional: true,
    answers: { 202: accepted },
  },
  retryThread: {
    route: 'POST /v1/threads/{id}/retry',
    summary: 'Ask the model again after a failure',
    access: talker,
    answers: { 202: accepted },
  },
  closeThread: {
    route: 'POST /v1/threads/{id}/close',
    summary: 'End the thread for good',
    access: threadWriter,
    answers: { 202: accepted },
  },
});

/** What a batch is in the audit; a dry run is nothing. */
function batchAction(body: unknown): 'threads.interrupted' | 'threads.closed' | null {
  const { action, dry_run: isDryRun } = body as { readonly action: string; readonly dry_run?: boolean };
  if (isDryRun === true) return null;
  return action === 'close' ? 'threads.closed' : 'threads.interrupted';
}
