// Schemas of the inputs of a thread, by kind: the values of the topic `inputs`. Each is the type of the heart, which
// the compiler checks here, and its opposite in the spec: a field that one of them lacks does not compile.
import type { BusInput } from '@dormouse/ports';
import { z } from 'zod';
import {
  arrivedEvent,
  baseUrls,
  content,
  displaySegments,
  instant,
  json,
  loadedToolset,
  openingAgent,
  rejectedToolset,
  withheldTool,
} from './content-schemas.ts';

const id = z.string().meta({ description: 'Unique inside the thread; two inputs with one id are one input.' });
const text = z.string();

function input<const Kind extends string, Fields extends z.ZodRawShape>(
  kind: Kind,
  description: string,
  fields: Fields,
) {
  return z.object({ kind: z.literal(kind), id, ...fields }).meta({ description });
}

const position = z.object({ threadId: text, position: z.int() });

const childhood = z.object({
  parent: position,
  ancestors: z.array(text),
  spawnedBy: z.union([
    z.object({ kind: z.literal('event'), toolCallId: text, operation: text, arguments: json }),
    z.object({ kind: z.literal('call'), toolCallId: text }),
  ]),
  toolsets: z.array(loadedToolset),
  baseUrls,
  events: z.array(arrivedEvent),
  instructions: text.nullable(),
});

const answer = z.union([
  z.object({ answer: z.literal('decision'), decision: z.enum(['allow', 'deny', 'allow_for_thread']) }),
  z.object({ answer: z.literal('selected'), selected: z.int() }),
  z.object({ answer: z.literal('dismiss') }),
]);

const schedule = z.object({ cron: text, timeZone: text, message: text, missed: z.enum(['skip', 'once']) });

const requestedCall = z.object({
  providerCallId: text,
  operation: text,
  arguments: json,
  problem: text.nullable(),
});

export const inputSchemas = {
  ThreadOpening: input('ThreadOpening', 'A thread begins: a root, a child or a fork.', {
    agent: openingAgent,
    userId: text.nullable(),
    title: text.nullable(),
    message: z.object({ messageId: text, content }).nullable(),
    child: childhood.optional(),
    fork: z.object({ from: position, askAgain: z.boolean() }).optional(),
    link: text.optional(),
  }),
  UserMessage: input('UserMessage', 'A message of a client, a schedule or a source.', {
    messageId: text,
    content,
    source: z.object({ name: text, deliveryId: text }).optional(),
    schedule: z.object({ name: text, scheduledFor: instant, missed: z.int() }).optional(),
  }),
  InterruptRequest: input('InterruptRequest', 'Stop the turn that runs.', {
    requestId: text,
    includeHuman: z.boolean(),
  }),
  RetryRequest: input('RetryRequest', 'Ask the model again after a failure.', { requestId: text }),
  CloseRequest: input('CloseRequest', 'End the thread for good.', { requestId: text }),
  CancelCallRequest: input('CancelCallRequest', 'Interrupt one tool call.', { requestId: text, toolCallId: text }),
  CancelSubscriptionRequest: input('CancelSubscriptionRequest', 'End one subscription.', {
    requestId: text,
    toolCallId: text,
  }),
  RefreshToolsetsRequest: input('RefreshToolsetsRequest', 'Fetch the manifests of the tool servers again.', {
    requestId: text,
  }),
  MigrationRequest: input('MigrationRequest', 'Use tool servers at other addresses from now on.', {
    requestId: text,
    toolServers: z.record(text, text),
  }),
  ScheduleRequest: input('ScheduleRequest', 'A message that is sent again and again.', {
    requestId: text,
    scheduleId: text,
    schedule,
  }),
  UnscheduleRequest: input('UnscheduleRequest', 'End a schedule.', { requestId: text, scheduleId: text }),
  ExternalEvent: input('ExternalEvent', 'Something has happened outside that no tool server tells.', {
    requestId: text,
    source: text,
    eventId: text.nullable(),
    content,
    associative: z.boolean(),
  }),
  AssignmentRequest: input('AssignmentRequest', 'A choice is the task of these people from now on.', {
    requestId: text,
    choiceId: text,
    assignees: z.array(text),
    by: text,
  }),
  ChoiceAnswer: input('ChoiceAnswer', 'The answer to an approval or to the question of a tool.', {
    requestId: text,
    choiceId: text,
    answer,
    reason: text.nullable(),
    decidedBy: text.nullable(),
    edit: z.object({ arguments: json, of: text }).optional(),
    credential: text.optional(),
    once: z.literal(true).optional(),
    shown: text.optional(),
  }),
  ToolsetsResult: input('ToolsetsResult', 'The manifests of the tool servers, as far as they can be used.', {
    loadId: text,
    toolsets: z.array(loadedToolset),
    withheld: z.array(withheldTool),
    rejected: z.array(rejectedToolset),
  }),
  MigrationResult: input('MigrationResult', 'What came of a migration; no problems means that all is moved.', {
    migrationId: text,
    migrated: z.array(text),
    problems: z.array(text),
  }),
  CompletionResult: input('CompletionResult', 'The answer of the model.', {
    completionId: text,
    text,
    reasoning: text.nullable(),
    toolCalls: z.array(requestedCall),
    finishReason: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other']),
    usage: z.object({ inputTokens: z.number(), outputTokens: z.number() }),
  }),
  CompletionFailure: input('CompletionFailure', 'The model gave no answer.', {
    completionId: text,
    code: text,
    detail: text,
    retryable: z.boolean(),
  }),
  ToolResult: input('ToolResult', 'The result of a tool call, by callback.', {
    toolCallId: text,
    toolServer: text,
    content,
    displayAs: displaySegments.nullable(),
    subscription: z.boolean(),
  }),
  SubscriptionEvent: input('SubscriptionEvent', 'Something happened that a call subscribed to.', {
    ...arrivedEvent.shape,
    toolServer: text,
    associative: z.boolean(),
  }),
  LoginPrompt: input('LoginPrompt', 'A call waits for its user to log in; the address is never here.', {
    toolCallId: text,
    toolServer: text,
    question: text.nullable(),
    expiresAt: instant,
  }),
  ChoicePrompt: input('ChoicePrompt', 'A call asks a person to choose.', {
    toolCallId: text,
    toolServer: text,
    question: text.nullable(),
    prompt: text,
    choices: z.array(text),
    default: z.int(),
    answerTo: text.meta({ description: 'The tool’s address for the answer, sealed.' }),
    expiresAt: instant,
  }),
  ChoiceAnswerFailure: input('ChoiceAnswerFailure', 'An answer could not be delivered to its tool server.', {
    toolCallId: text,
    detail: text,
  }),
  DispatchFailure: input('DispatchFailure', 'A call was not accepted, or may or may not have run.', {
    toolCallId: text,
    outcome: z.enum(['error', 'unknown']),
    code: text,
    detail: text,
  }),
  CallbackRejection: input('CallbackRejection', 'A callback with a good token and a body that cannot be used.', {
    toolCallId: text,
    reason: text,
    settles: z.boolean(),
    code: text,
  }),
  ChildReport: input('ChildReport', 'A child thread reports to its parent.', {
    childId: text,
    report: content,
    closed: z.boolean(),
  }),
  ParentMessage: input('ParentMessage', 'A parent thread writes to its child.', { parentId: text, content }),
  RetentionEnd: input('RetentionEnd', 'A thread has rested for as long as its tenant keeps threads.', {
    restingSince: instant,
  }),
  ContentErasure: input('ContentErasure', 'Contents of a closed thread go, or those that it inherits.', {
    scope: z.enum(['thread', 'family', 'user', 'inherited']),
    certificate: text.meta({ description: 'The id of the erasure.' }),
  }),
  TimerFiring: input('TimerFiring', 'A timer is due.', { timerId: text, scheduledFor: instant }),
  ViewUpdate: input('ViewUpdate', 'A view has another content; changes no history.', {
    viewType: text,
    content: text.meta({ description: 'JSON as text, character for character.' }),
  }),
  ReplayWake: z
    .object({
      kind: z.literal('ReplayWake'),
      id: z.literal('w:replay'),
      repayFrom: z.int().optional(),
      heldMark: z.number().optional(),
    })
    .meta({ description: 'A thread that was parked or moved continues; changes no history.' }),
} satisfies { readonly [Kind in BusInput['kind']]: z.ZodType<Extract<BusInput, { readonly kind: Kind }>> };
