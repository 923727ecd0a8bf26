// The parts of one thread: events, commits, tool calls, choices, blobs.
import { mediaTypeCharactersMax } from '@dormouse/protocol';
import { z } from 'zod';
import {
  accepted,
  historyListQuery,
  httpUrl,
  id,
  isBase64,
  limitOf,
  listOf,
  listOrder,
  listQuery,
  logListQuery,
  name,
  nullableTime,
  queryPosition,
  time,
} from './field.ts';
import { threadEvent } from './reference/events.ts';
import { subscriptionFields, threadSummary } from './threads.ts';
import { admin, adminOfAll, answerer, operationsOf, talker, threadReader, threadWriter } from './operation.ts';

export const commit = z
  .object({
    v: z.literal(1),
    tenant: z.string(),
    thread: z.string(),
    version: z.int(),
    count: z.int(),
    inputs: z.array(z.string()),
    at: z.int(),
    nonce: z.string(),
    trace: z.string().nullable(),
    kid: z.string().nullable(),
    prev: z.string(),
    hash: z.string(),
    body: z.string(),
  })
  .meta({
    id: 'Commit',
    description: 'A commit exactly as it is stored: `at` is in milliseconds, `hash` covers these very fields.',
  });

export const toolCall = z
  .object({
    tool_call_id: z.string(),
    operation: z.string(),
    tool_server: z.string().nullable(),
    arguments: z.record(z.string(), z.unknown()),
    arguments_allowed: z.record(z.string(), z.unknown()).optional(),
    state: z.enum(['approval', 'dispatching', 'acknowledged', 'choice', 'oauth', 'detached', 'settled']),
    outcome: z.string().optional(),
    since: time,
    attempts: z.array(z.object({ at: time, status: z.union([z.int(), z.string()]) })),
    thread_id: z.string().optional(),
  })
  .meta({ id: 'ToolCall' });

const spanLink = z.object({ trace_id: z.string(), span_id: z.string() });

export const step = z
  .object({
    kind: z.enum(['completion', 'call', 'attempt', 'callback', 'child', 'report', 'timer', 'event', 'choice']),
    id: z.string(),
    parent_id: z.string().nullable(),
    name: z.string().optional(),
    started_at: time,
    ended_at: nullableTime,
    waited_ms: z.int().optional(),
    outcome: z.string().optional(),
    trace_id: z.string().optional(),
    span_id: z.string().optional(),
    links: z.array(spanLink).optional(),
    duplicates: z.int().optional(),
    refused: z.int().optional(),
  })
  .meta({
    id: 'Step',
    description:
      'One step of a turn; `parent_id` names the step that caused it, which may be of an earlier turn. Ids of completions, calls, ' +
      'choices, timers and children are those of the events. `waited_ms` is the part in which the thread waited. A call counts ' +
      'its other callbacks: those that had been accepted before, and those that were refused. Without tracing there are no ids of traces.',
  });

export const turn = z
  .object({
    turn_id: z.string(),
    cause: z.object({ kind: z.string(), id: z.string() }),
    trace_id: z.string().nullable(),
    started_at: time,
    ended_at: nullableTime,
    steps: z.array(step),
    steps_omitted: z.int().optional(),
  })
  .meta({
    id: 'Turn',
    description:
      'What began a turn, and its steps in the order of their times; `steps_omitted` counts those beyond 2000.',
  });

export const choice = z
  .object({
    id: z.string(),
    kind: z.enum(['tool', 'approval']),
    tool_call_id: z.string(),
    prompt: z.string(),
    choices: z.array(z.string()),
    default: z.int(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    arguments_hash: z.string().optional(),
    warnings: z.array(z.string()).optional(),
    expires_at: time,
    assignees: z.array(z.string()).optional(),
    approvals_needed: z.int().optional(),
    approved_by: z.array(z.string()).optional(),
    edited: z.boolean().optional(),
    thread_id: z.string().optional(),
  })
  .meta({ id: 'Choice' });

export const choiceAnswer = z
  .strictObject({
    decision: z.enum(['allow', 'deny', 'allow_for_thread']).optional(),
    selected: z.int().min(0).max(1_000).optional(),
    dismiss: z.literal(true).optional(),
    reason: z.string().max(2_000).nullable().default(null),
    decided_by: id.nullable().default(null),
    arguments: z.record(z.string(), z.unknown()).optional(),
    arguments_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits')
      .optional(),
  })
  .refine(({ decision, arguments: edited }) => edited === undefined || decision === 'allow', {
    message: 'comes only with the decision allow',
    path: ['arguments'],
  })
  .refine(
    ({ decision, selected, dismiss }) => [decision, selected, dismiss].filter((one) => one !== undefined).length === 1,
    'needs exactly one of decision, selected and dismiss',
  )
  .meta({
    id: 'ChoiceAnswer',
    description:
      'An approval takes `decision`, a choice of a tool `selected`; `dismiss` takes the default of either. With `allow` an ' +
      'approval takes other `arguments` than the model’s. `arguments_hash` names what was shown: the choice’s.',
  });

export const subscription = z.object(subscriptionFields).meta({ id: 'Subscription' });

export const view = z
  .object({ view_type: z.string(), content: z.record(z.string(), z.unknown()) })
  .meta({ id: 'View', description: 'The newest content of one type, as its tool server wrote it.' });

const fileHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex');

export const importPart = z
  .strictObject({
    of: fileHash,
    origin: fileHash.nullable().default(null),
    commits: z.array(commit).min(1).max(1_000),
    last: z.boolean(),
  })
  .meta({
    id: 'ImportPart',
    description:
      'Commits of one thread, in order. `of` is the hash of its last commit; `origin` the same of the thread that its history ' +
      'begins in, which comes first. `last` ends the import: the threads are closed, and seen from now on.',
  });

export const importedBlob = z
  .strictObject({
    sha256: fileHash,
    media_type: z
      .string()
      .max(mediaTypeCharactersMax)
      .regex(/^[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/, 'must be a media type'),
    data: z.string().refine(isBase64, 'must be base64'),
  })
  .meta({ id: 'ImportedBlob', description: 'A payload that commits of an import refer to; it is sent before them.' });

export const migration = z
  .strictObject({
    tool_servers: z.record(name, httpUrl).refine((servers) => Object.keys(servers).length > 0, 'names no tool server'),
  })
  .meta({ id: 'Migration', description: 'Base URL of the destination by name of the tool server.' });

const scheduleFields = {
  cron: z.string().min(1).max(200),
  time_zone: z.string().min(1).max(100),
  message: z.string().min(1).max(65_536),
  missed: z.enum(['skip', 'once']),
};

export const newSchedule = z
  .strictObject({
    ...scheduleFields,
    time_zone: scheduleFields.time_zone.default('UTC'),
    missed: scheduleFields.missed.default('once'),
  })
  .meta({ id: 'NewSchedule', description: 'A cron line and the message that it sends.' });

export const schedule = z
  .object({ id: z.string(), ...scheduleFields, since: time, next_at: nullableTime })
  .meta({ id: 'Schedule' });

const eventPlaceQuery = z.strictObject({
  after: queryPosition.optional(),
  cursor: queryPosition.optional(),
  limit: limitOf(100, 200),
});

export const eventsQuery = eventPlaceQuery.extend({ order: listOrder.default('asc') });

/**
 * A stream goes forward. Only the stream takes the token in the query, because a browser's EventSource cannot send
 * headers.
 */
export const eventStreamQuery = eventPlaceQuery.extend({ access_token: z.string().max(4_096).optional() });

/** `turn` asks for one turn by its id; `after` is a position, and the cursor of the page before. */
export const lineageQuery = z.strictObject({
  turn: z.string().min(1).max(2_000).optional(), // an event's id, which a tool server has chosen, is a part of some
  after: queryPosition.default(0),
  limit: limitOf(50, 200),
});

export const threadDetailOperations = operationsOf('thread', {
  listEvents: {
    route: 'GET /v1/threads/{id}/events',
    summary: 'Durable events; with `Accept: text/event-stream` the same goes on as a stream',
    access: threadReader,
    query: eventsQuery,
    answers: { 200: z.object({ data: z.array(threadEvent), next_cursor: z.string() }), 204: null },
  },
  listCommits: {
    route: 'GET /v1/threads/{id}/commits',
    summary: 'The log as it is stored, for export and verification',
    access: threadReader,
    query: logListQuery,
    answers: { 200: listOf(commit) },
  },
  importThread: {
    route: 'POST /v1/imports',
    summary:
      'An exported thread, in parts and in order, as a closed thread that can be read and forked; nobody sees it before the ' +
      'last part, and a part may be sent again',
    access: adminOfAll,
    body: importPart,
    problems: ['QUOTA_EXCEEDED'],
    answers: { 200: z.object({ thread: z.string(), position: z.int() }) },
  },
  importBlob: {
    route: 'POST /v1/imports/blobs',
    summary: 'A payload that commits of an import refer to; it may be sent again',
    access: adminOfAll,
    body: importedBlob,
    problems: ['QUOTA_EXCEEDED'],
    answers: { 204: null },
  },
  listToolCalls: {
    route: 'GET /v1/threads/{id}/tool-calls',
    summary: 'Tool calls with their attempts, in the order they were asked for',
    access: threadReader,
    query: historyListQuery,
    answers: { 200: listOf(toolCall) },
  },
  listTurns: {
    route: 'GET /v1/threads/{id}/lineage',
    summary: 'The turns of the thread, oldest first: what caused what, when, and how long it waited',
    access: threadReader,
    query: lineageQuery,
    answers: { 200: listOf(turn) },
  },
  cancelToolCall: {
    route: 'POST /v1/threads/{id}/tool-calls/{call}/cancel',
    summary: 'Stop waiting for one call',
    access: talker,
    audit: { action: 'tool_call.cancelled', target: '{call}' },
    answers: { 202: accepted },
  },
  listSubscriptions: {
    route: 'GET /v1/threads/{id}/subscriptions',
    summary: 'What the thread listens to',
    access: threadReader,
    query: listQuery,
    answers: { 200: listOf(subscription) },
  },
  cancelSubscription: {
    route: 'POST /v1/threads/{id}/subscriptions/{call}/cancel',
    summary: 'Stop listening; every tool server of the agent is told',
    access: talker,
    answers: { 202: accepted },
  },
  listViews: {
    route: 'GET /v1/threads/{id}/views',
    summary: 'The current views of tools',
    access: threadReader,
    query: listQuery,
    answers: { 200: listOf(view) },
  },
  listChildren: {
    route: 'GET /v1/threads/{id}/children',
    summary: 'Threads that this thread opened, newest first',
    access: threadReader,
    query: listQuery,
    answers: { 200: listOf(threadSummary) },
  },
  refreshToolsets: {
    route: 'POST /v1/threads/{id}/toolsets/refresh',
    summary: 'Fetch the manifests anew; `toolset_changed` follows if one changed',
    access: talker,
    answers: { 202: accepted },
  },
  migrateThread: {
    route: 'POST /v1/threads/{id}/migration',
    summary: 'Use tool servers at other addresses, all or none; `migration_ended` says how it went',
    access: admin,
    body: migration,
    answers: { 202: accepted },
  },
  listSchedules: {
    route: 'GET /v1/threads/{id}/schedules',
    summary: 'Messages that a clock sends',
    access: threadReader,
    query: listQuery,
    answers: { 200: listOf(schedule) },
  },
  addSchedule: {
    route: 'POST /v1/threads/{id}/schedules',
    summary: 'Send a message at every time of a cron line; the answer is the id of the schedule',
    access: threadWriter,
    body: newSchedule,
    answers: { 202: accepted },
  },
  removeSchedule: {
    route: 'DELETE /v1/threads/{id}/schedules/{schedule}',
    summary: 'Send it no more',
    access: threadWriter,
    answers: { 202: accepted },
  },
  listChoices: {
    route: 'GET /v1/threads/{id}/choices',
    summary: 'What waits for a person',
    access: threadReader,
    query: listQuery,
    answers: { 200: listOf(choice) },
  },
  answerChoice: {
    route: 'POST /v1/threads/{id}/choices/{chc}',
    summary: 'Decide; the first answer stays',
    access: answerer,
    body: choiceAnswer,
    answers: { 202: accepted },
    problems: ['CHOICE_SETTLED', 'CHOICE_CHANGED', 'APPROVAL_COUNTED'],
  },
  getBlob: {
    route: 'GET /v1/threads/{id}/blobs/{sha256}',
    summary: 'A payload that is too large for the log',
    access: threadReader,
    answers: { 200: 'application/octet-stream' },
  },
});
