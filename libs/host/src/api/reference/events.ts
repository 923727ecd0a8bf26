// Every durable event as clients see it: what it says, and each of its fields. The OpenAPI document and the page of
// events are made from this table.
//
// Invariants:
//   E1. Every event type and every field that the log knows is here, or this file does not compile.
//   E2. What a client sees is what is described: a test compares the events of simulated universes.
import type { ThreadEvent } from '@dormouse/thread';
import { z } from 'zod';
import { time } from '../field.ts';
import {
  agentLimits,
  agentPolicies,
  content,
  displaySegment,
  loadedToolset,
  open,
  stamp,
  threadPosition,
} from './event-parts.ts';

/** `MessageAccepted` to `message_accepted`, at the level of types. */
type WireName<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Uppercase<Head> ? (Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`) : Head}${WireName<Tail>}`
  : '';

type Named<Type extends ThreadEvent['type']> = Extract<ThreadEvent, { readonly type: Type }>;

/** Where a choice's answer goes, and the hash of a question, are kept from clients. */
type Hidden = 'type' | 'answerTo' | 'question';

type FieldsOf<Type extends ThreadEvent['type']> = {
  readonly [Name in Exclude<keyof Named<Type>, Hidden> as WireName<Name & string>]-?: z.ZodType;
};

export interface EventText {
  /** When it is written, in a sentence. */
  readonly text: string;
  readonly fields: Readonly<Record<string, z.ZodType>>;
}

type EventTable = {
  readonly [Type in ThreadEvent['type'] as WireName<Uncapitalize<Type>>]: EventText & {
    readonly fields: FieldsOf<Type>;
  };
};

const text = z.string();
const texts = z.array(text);
const count = z.int().nonnegative();
const says = <Schema extends z.ZodType>(schema: Schema, description: string): Schema => schema.meta({ description });
const id = (of: string) => says(text, `Id of the ${of}.`);
const call = says(text, 'Id of the call.');
const anything = z.record(z.string(), z.unknown());

const source = says(
  z
    .object({
      name: says(text, 'The name of the source.'),
      delivery_id: says(text, 'The sender’s id of the delivery.'),
    })
    .optional(),
  'Of a delivery of a source; absent for a message of a client.',
);

const ofSchedule = says(
  z
    .object({
      name: says(text, 'The name of the schedule.'),
      scheduled_for: says(time, 'The time that it is for.'),
      missed: says(count, 'Earlier times that were missed.'),
    })
    .optional(),
  'Of a schedule of the tenant; absent for a message of a client.',
);

const received = {
  tool_call_id: says(text, 'Id of the call that subscribed.'),
  event_id: says(text.optional(), 'The sender’s id of the event, by which a repetition is known.'),
  content,
  text: says(text, 'The content as one text: images and references are short placeholders.'),
  associative: says(z.boolean(), 'True: it goes into this thread. False: into a child of its own.'),
  final: says(z.boolean(), 'No event of this subscription follows.'),
};

const event = <Fields>(text: string, fields: NoInfer<Fields>) => ({ text, fields });

/** (E1) */
export const eventTable = {
  thread_opened: event('The first event of a thread: the agent version with all that it fixes.', {
    agent: says(z.object({ name: text, version: z.int() }), 'The agent and its version.'),
    model: says(text, 'The model’s name for people.'),
    tool_servers: says(texts, 'Names of the tool servers.'),
    policies: agentPolicies,
    limits: agentLimits,
    user_id: says(text.optional(), 'The end user for whom the thread was opened.'),
    title: says(text.optional(), 'The title it was opened with.'),
    parent: says(threadPosition.optional(), 'Of a child: its history begins with the parent’s up to this position.'),
    ancestors: says(texts.optional(), 'Of a child: ids from the root to its parent.'),
    spawned_by: says(
      z
        .object({
          kind: open('event', 'call'),
          tool_call_id: text,
          operation: text.optional(),
          arguments: anything.optional(),
        })
        .optional(),
      'Of a child: the call that spawned it, or the one whose subscription received an event.',
    ),
    base_urls: says(z.record(text, text).optional(), 'Of a child: base URLs of tool servers that were migrated.'),
  }),
  toolsets_requested: event('The manifests of the tool servers are being fetched.', {
    load_id: id('request for the manifests'),
    tool_servers: says(texts, 'Names of the tool servers.'),
  }),
  toolsets_loaded: event('The tools that the model is offered from now on.', {
    toolsets: z.array(loadedToolset),
    withheld: says(z.array(z.object({ tool: text, reason: text })), 'Tools that are not offered, and why.'),
  }),
  toolset_rejected: event('The manifest of a tool server cannot be used; its tools are not offered.', {
    tool_server: says(text, 'Name of the tool server.'),
    code: open('TOOLSET_INVALID', 'TOOLSET_UNREACHABLE', 'OUTBOUND_FORBIDDEN'),
    problems: says(texts, 'What is wrong, in sentences.'),
  }),
  toolset_changed: event('A tool server has other tools than before.', {
    tool_server: says(text, 'Name of the tool server.'),
    added: says(texts, 'Tools that are new.'),
    removed: says(texts, 'Tools that are gone.'),
    changed: says(texts, 'Tools with another definition.'),
  }),
  message_accepted: event(
    'A message of a person, or of a source, is part of the conversation: the next completion answers it.',
    { message_id: id('message'), content, source, schedule: ofSchedule },
  ),
  message_queued: event(
    'A message waits, because of the policy `queue`; `message_accepted` follows when the model gets it.',
    { message_id: id('message'), content, source, schedule: ofSchedule },
  ),
  message_refused: event('A message that the thread could not take.', {
    message_id: id('message'),
    code: text,
    detail: text,
  }),
  request_refused: event(
    'A request that the thread could not carry out, such as an interruption with nothing to interrupt.',
    {
      request_id: id('request'),
      request: says(text, 'What was asked for: `interrupt_request`, `retry_request` and so on.'),
      code: text,
      detail: text,
    },
  ),
  completion_requested: event('The model is asked.', {
    completion_id: id('completion'),
    model: says(text, 'The model’s name for people.'),
  }),
  completion_recorded: event(
    'The model has answered. The calls that it asked for follow, each as an event of its own.',
    {
      completion_id: id('completion'),
      message: says(z.object({ text, reasoning: text.optional() }), 'What the model said.'),
      finish_reason: says(
        open('stop', 'length', 'tool_calls', 'content_filter', 'error', 'other'),
        'Why the model stopped.',
      ),
      usage: says(z.object({ input_tokens: count, output_tokens: count }), 'Tokens of this completion.'),
      interrupted: says(z.boolean(), 'It was cut: `message` has what had been said by then.'),
      final: says(z.boolean(), 'No calls follow: this is the turn’s answer.'),
    },
  ),
  completion_failed: event('The model gave no answer, after all attempts. The turn ends; `retry` asks again.', {
    completion_id: id('completion'),
    code: text,
    detail: text,
    retryable: says(z.boolean(), 'Whether asking again may help.'),
  }),
  tool_call_requested: event('The model asked for a call. It is sent now, or after its approval.', {
    tool_call_id: call,
    operation: says(text, 'Name of the tool.'),
    tool_server: says(text.optional(), 'Absent for a built-in tool, and for one that does not exist.'),
    arguments: says(anything, 'As the model gave them.'),
    arguments_hash: says(text, 'SHA-256 of the arguments: an approval is bound to it.'),
    provider_call_id: says(text, 'The id that the model’s provider gave; it has no meaning here.'),
  }),
  tool_call_settled: event('A call has ended; the model gets its content.', {
    tool_call_id: call,
    outcome: says(
      open('result', 'error', 'interrupted', 'timed_out', 'denied', 'outcome_unknown'),
      'How it ended. A tool’s own error, a failed dispatch, an unknown tool and bad arguments are `error`.',
    ),
    content,
    display_as: says(z.array(displaySegment).optional(), 'What the tool shows to people.'),
    code: says(text.optional(), 'With another outcome than `result`: the code of the failure’s page.'),
    blobs: says(texts.optional(), 'Hashes of the payloads that `GET …/blobs/{sha256}` has.'),
  }),
  tool_call_detached: event(
    'A call goes on without the conversation waiting for it; its result comes as a message of its own.',
    { tool_call_id: call },
  ),
  tool_call_late_result: event('A result for a call that had ended.', {
    tool_call_id: call,
    used: says(z.boolean(), 'Whether the model gets it.'),
  }),
  subscription_opened: event('A call has subscribed: its tool server may send events from now on.', {
    tool_call_id: call,
  }),
  subscription_event_held: event(
    'An event came before the confirmation of its subscription; it counts when that has come.',
    received,
  ),
  subscription_event_received: event('An event of a subscription.', {
    ...received,
    into: says(open('thread', 'child', 'queue'), 'Where it went: `queue` waits for a child.'),
    child_id: says(text.optional(), 'The child that was opened for it.'),
  }),
  subscription_closed: event('A subscription has ended.', {
    tool_call_id: call,
    reason: open('final', 'cancelled', 'thread_closed'),
  }),
  child_spawned: event('A child thread was opened.', {
    child_id: id('child thread'),
    reason: open('event', 'call'),
    tool_call_id: says(text, 'Id of the call that spawned it, or whose subscription received the event.'),
    queued_events: says(count, 'Queued events that it takes; 0 for one that was spawned by the event before.'),
    instructions: says(text.optional(), 'What the parent’s model told it to do.'),
  }),
  child_reported: event('A child has told its parent something.', {
    child_id: id('child thread'),
    report: says(text, 'What it said, as text.'),
    closed: says(z.boolean(), 'It was the child’s last report.'),
  }),
  parent_message_received: event('The parent’s model told this child something.', {
    content,
    text: says(text, 'The content as one text.'),
  }),
  title_set: event('The model named the thread.', { title: says(text, 'The title.') }),
  oauth_requested: event('A call waits for its user to log in; the address is in the event stream alone.', {
    tool_call_id: call,
    expires_at: says(time, 'When the call fails without it.'),
  }),
  credential_refresh_failed: event(
    'What the user has for a tool server has ended, and its provider refuses to refresh it: a call was not sent.',
    { tool_server: says(text, 'Name of the tool server.'), user_id: says(text, 'The user of the thread.') },
  ),
  callback_rejected: event('A tool server sent something that cannot be used; the call goes on.', {
    tool_call_id: call,
    reason: says(text, 'What is wrong with it.'),
    code: text,
  }),
  choice_requested: event('A person is asked: an approval of the runtime, or a question of a tool.', {
    choice_id: id('choice'),
    kind: open('approval', 'tool'),
    tool_call_id: call,
    prompt: says(text, 'The question.'),
    choices: says(texts, 'The possible answers.'),
    default: says(count, 'Index of the answer that counts when none is given in time.'),
    arguments: says(anything.optional(), 'Of an approval: the exact arguments that it is about.'),
    arguments_hash: says(text.optional(), 'Of an approval: SHA-256 of the arguments.'),
    warnings: says(texts.optional(), 'Of an approval: characters in the arguments that can deceive a reader.'),
    assignees: says(texts.optional(), 'Labels of the people whose task it is.'),
    approvals_needed: says(count.optional(), 'Of an approval: how many must allow the call, where it is not one.'),
    expires_at: says(time, 'When the default counts.'),
  }),
  choice_assigned: event('A choice is the task of these people from now on.', {
    choice_id: id('choice'),
    assignees: says(texts, 'Labels of the people; none for an empty list.'),
    by: says(text, 'What said so: the name of a key.'),
  }),
  approval_counted: event(
    'An approval counts, and the call waits for others. The one that is the last ends the choice instead.',
    {
      choice_id: id('choice'),
      by: says(text, 'A label of the person.'),
      credential: says(text, 'Id of the key, link or user whose approval it is: two of one credential are one.'),
      once: says(z.literal(true).optional(), 'The credential was good for one answer: a link.'),
      for_thread: says(z.literal(true).optional(), 'It would allow the tool for the thread, if all say so.'),
      reason: says(text.optional(), 'Why, in the words of the person.'),
      edited: says(z.literal(true).optional(), 'The arguments were changed: earlier approvals count no more.'),
      arguments_allowed: says(anything.optional(), 'The arguments that the choice is about from now on.'),
    },
  ),
  choice_settled: event('A choice has ended; its first answer stays.', {
    choice_id: id('choice'),
    decision: says(
      open('allow', 'deny', 'allow_for_thread', 'expired', 'withdrawn').optional(),
      'Of an approval. `withdrawn` also of a question that was not answered.',
    ),
    selected: says(count.optional(), 'Of a question: index of the answer.'),
    by: says(
      text,
      'What ended it: labels of all whose approval counted (`decided_by`, else whom a link was made for, the user of a token, or the name of the key), or a word such as `deadline` or `tool`.',
    ),
    reason: says(text.optional(), 'Why, in the words of the person.'),
    arguments_allowed: says(
      anything.optional(),
      'Of an approval: the arguments that were allowed, where they were changed.',
    ),
    edited: says(z.literal(true).optional(), 'Of an approval: the arguments were changed before they were allowed.'),
  }),
  timer_set: event('Something will happen at a time.', {
    timer_id: id('timer'),
    due: says(time, 'When.'),
    reason: says(
      open(
        ...['tool_timeout', 'approval_deadline', 'choice_deadline', 'login_deadline'],
        ...['sleep', 'schedule', 'event_wait', 'event_rate'],
      ),
      'What it is for.',
    ),
    tool_call_id: says(text.optional(), 'Id of the call that it ends, or that sleeps.'),
    schedule_id: says(text.optional(), 'Id of the schedule.'),
  }),
  timer_fired: event('The time of a timer came.', {
    timer_id: id('timer'),
    scheduled_for: says(time, 'When it should have fired.'),
  }),
  timer_cancelled: event('A timer is not needed any more.', { timer_id: id('timer') }),
  migration_started: event('Tool servers are asked whether the thread can go on at other addresses.', {
    migration_id: id('migration'),
    tool_servers: says(z.record(text, text), 'Base URL of the destination by name.'),
  }),
  migration_ended: event('How a migration went: all tool servers, or none.', {
    migration_id: id('migration'),
    ok: says(z.boolean(), 'Whether the new addresses count from now on.'),
    migrated: says(texts, 'Tool servers that moved state of the thread.'),
    problems: says(texts, 'What went wrong, in sentences.'),
  }),
  schedule_set: event('A schedule was added.', {
    schedule_id: id('schedule'),
    schedule: says(
      z.object({ cron: text, time_zone: text, message: text, missed: open('skip', 'once') }),
      'The schedule.',
    ),
  }),
  schedule_removed: event('A schedule was removed.', { schedule_id: id('schedule') }),
  external_event_received: event(
    'Something has happened outside that is no tool server’s to tell; the next completion reads it.',
    {
      source: says(text, 'Where it has happened, in the words of its sender.'),
      event_id: says(text.optional(), 'The sender’s id of the event: one of a source is taken once.'),
      content,
      text: says(text, 'The content as one text.'),
      associative: says(z.boolean(), 'True: it goes into this thread. False: into a child of its own.'),
      child_id: says(text.optional(), 'The child that was opened for it.'),
    },
  ),
  schedule_came: event('A time of a schedule came: its message is part of the conversation, unless it was skipped.', {
    schedule_id: id('schedule'),
    scheduled_for: says(time, 'The time of the schedule.'),
    missed: says(count, 'Earlier times that were missed.'),
    skipped: says(z.boolean(), 'It was missed, and the schedule skips what was missed.'),
    content,
  }),
  turn_interrupted: event(
    'A client stopped the turn; the calls that this ended are shown to the model in the next completion.',
    { request_id: id('request') },
  ),
  budget_exceeded: event('A limit of the agent or of the runtime was reached; the model is not asked.', {
    budget: open('completions_per_wake', 'tokens_per_day_thread', 'tokens_per_day_tenant', 'repeated_call'),
    used: says(count, 'What was used.'),
    limit: says(count, 'What is allowed.'),
  }),
  thread_forked: event('The history of another thread up to a position goes before this log.', {
    from: says(threadPosition, 'Where the history ends.'),
    ask_again: says(z.boolean(), 'Whether the model was asked at once.'),
  }),
  thread_closed: event('The last event: the thread takes nothing more.', {
    by: says(text, 'Id of the request or of the input that closed it.'),
  }),
  content_erased: event(
    'Contents were erased. An event whose own content is gone is shown as this one, at its position.',
    {
      scope: says(
        open('thread', 'family', 'user', 'inherited', 'event'),
        'What was erased: the thread, its family, all of its user, what a fork inherits, or this one event.',
      ),
      certificate: says(text.optional(), 'Id of the erasure, by which its certificate is found; absent for `event`.'),
    },
  ),
} satisfies EventTable;

/** `message_accepted` is the component `MessageAcceptedEvent`. */
const componentOf = (type: string): string =>
  `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

const eventSchemas = Object.entries<EventText>(eventTable).map(([type, { text: description, fields }]) =>
  z.object({ ...stamp, type: z.literal(type), ...fields }).meta({ id: componentOf(type), description }),
);

const [firstSchema, ...otherSchemas] = eventSchemas;
if (firstSchema === undefined) throw new Error('there is no event');

export const threadEvent = z.discriminatedUnion('type', [firstSchema, ...otherSchemas]).meta({
  id: 'ThreadEvent',
  description: 'One durable event. New types may appear: skip those that you do not know.',
});
