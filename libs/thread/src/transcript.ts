// What the model sees, as an incremental fold over the events.
//
// Invariants:
//   M1. Messages are only ever appended, and only when a completion is requested: a prompt is the first `length` of
//       them, and a longer log never reorders what a model has already seen. I-15
//   M2. An assistant message with calls is followed at once by one tool message with exactly one result for each, in
//       order; legal for every provider, whatever arrived in between. R70
//   M3. What arrives during a round stands behind it, in the order of arrival: log order is not prompt order.
//   M4. A detached call has its placeholder in its round; its outcome comes later as an injected pair.
//   M5. An event of a subscription is an injected pair too, never a second result of its call. R70, R71
//       The confirmation of a subscription names the id that cancels it, whatever its tool server says. R69, R76
//   M6. A child's prompt is the parent's transcript up to where it was spawned, closed by `inherit`, and then its own.
import { injectedEventToolName } from '@dormouse/protocol';
import { type Content, externalEventNote, plainText, text } from './content.ts';
import type { Event, RecordedEvent } from './event.ts';
import type { MessageSchedule } from './input.ts';
import { GrowingLists } from './growing-lists.ts';
import type { ModelMessage, ModelToolCall, ModelToolResult } from './model-message.ts';
import type { Policies } from './policy.ts';
import { own, without } from './thread.ts';
import { unknownKind } from './unreachable.ts';

interface Round {
  readonly text: string;
  readonly reasoning?: string;
  readonly calls: readonly ModelToolCall[];
  /** At most one for each call, in the order in which they came. */
  readonly results: readonly ModelToolResult[];
  /** Calls that wait for a person, and for what; the model reads it as their placeholder while they are kept. */
  readonly waiting?: Readonly<Record<string, keyof typeof placeholders>>;
}

/** What has been folded and not yet shown: plain JSON, part of a snapshot, bounded by one round and what follows it. */
export interface TranscriptTail {
  /** Messages shown so far. */
  readonly length: number;
  readonly eventStyle: Policies['eventStyle'];
  readonly round: Round | null;
  readonly behind: readonly ModelMessage[];
  /** Detached calls whose outcome is still to come. */
  readonly detached: Readonly<Record<string, ModelToolCall>>;
  /** Calls whose subscriptions are open, or for which this child was opened. */
  readonly subscribed: Readonly<Record<string, ModelToolCall>>;
  /** Generations below the root, and pairs injected so far: together they make an injected call's id unique. */
  readonly depth: number;
  readonly injected: number;
  /** Timers of `sleep` that run. */
  readonly sleeping?: readonly string[];
}

export interface TranscriptStep {
  readonly tail: TranscriptTail;
  /** Messages that became final by this event. */
  readonly messages: readonly ModelMessage[];
}

export const emptyTail: TranscriptTail = {
  length: 0,
  eventStyle: 'kind',
  round: null,
  behind: [],
  detached: {},
  subscribed: {},
  depth: 0,
  injected: 0,
};

const none: readonly ModelMessage[] = [];

/** Folds one event. A caller that folds many and keeps only the last tail passes the same `lists` to all of them. */
export function extendTranscript(
  tail: TranscriptTail,
  event: RecordedEvent,
  lists: GrowingLists = new GrowingLists(),
): TranscriptStep {
  return event.type === 'CompletionRequested' ? show(tail) : { tail: follow(tail, event, lists), messages: none }; // (M1)
}

function follow(
  tail: TranscriptTail,
  event: Exclude<RecordedEvent, { readonly type: 'CompletionRequested' }>,
  lists: GrowingLists,
): TranscriptTail {
  switch (event.type) {
    case 'ThreadOpened':
      return begin(tail, event);
    case 'CompletionRecorded':
      return { ...tail, round: { ...event.message, calls: [], results: [] } };
    case 'ToolCallRequested':
      return addCall(tail, event, lists);
    case 'ToolCallDetached':
      return detach(tail, event.toolCallId, lists);
    case 'ToolCallSettled':
      return settle(tail, event, lists);
    case 'MessageAccepted':
      return say(tail, saidIn(event), lists);
    case 'SubscriptionOpened':
      return subscribe(tail, event.toolCallId);
    case 'SubscriptionEventReceived':
      return event.into === 'thread' ? injectEvent(tail, event, lists) : tail;
    case 'SubscriptionClosed':
      return { ...tail, subscribed: without(tail.subscribed, event.toolCallId) };
    case 'ChildReported':
      return say(tail, reportOf(event), lists);
    case 'ParentMessageReceived':
      return say(tail, [text('[message from the parent thread]'), ...event.content], lists);
    case 'ExternalEventReceived':
      return event.childId === null ? say(tail, [text(externalEventNote(event)), ...event.content], lists) : tail;
    case 'ScheduleCame':
      return event.skipped ? tail : say(tail, [text(scheduled(event)), ...event.content], lists);
    case 'TimerSet':
      return event.reason === 'sleep' ? sleep(tail, event) : tail;
    case 'TimerFired':
    case 'TimerCancelled':
      return wakeUp(tail, event, lists);
    case 'OauthRequested':
      return waitFor(tail, event.toolCallId, 'login');
    case 'ChoiceRequested':
      return waitFor(tail, event.toolCallId, event.kind);
    case 'ToolsetsRequested': // shown only to people
    case 'ToolsetsLoaded':
    case 'ToolsetRejected':
    case 'ToolsetChanged':
    case 'MessageQueued':
    case 'MessageRefused':
    case 'RequestRefused':
    case 'CompletionFailed':
    case 'CredentialRefreshFailed':
    case 'CallbackRejected':
    case 'ToolCallLateResult':
    case 'SubscriptionEventHeld':
    case 'ChildSpawned':
    case 'TitleSet':
    case 'ChoiceSettled':
    case 'ChoiceAssigned':
    case 'ApprovalCounted':
    case 'ScheduleSet':
    case 'ScheduleRemoved':
    case 'MigrationStarted':
    case 'MigrationEnded':
    case 'TurnInterrupted':
    case 'BudgetExceeded':
    case 'ThreadForked':
    case 'ThreadClosed':
    case 'ContentErased':
      return tail;
    default:
      return unknownKind('event', (event as { readonly type: never }).type);
  }
}

/** The whole transcript of some events, from a thread's first on. */
export function transcript(events: readonly RecordedEvent[]): readonly ModelMessage[] {
  const messages: ModelMessage[] = [];
  const lists = new GrowingLists();
  let tail = emptyTail;
  for (const event of events) {
    const step = extendTranscript(tail, event, lists);
    tail = step.tail;
    for (const message of step.messages) messages.push(message);
  }
  return messages;
}

/** The round is complete: it and what stands behind it become final. (M1) */
function show(tail: TranscriptTail): TranscriptStep {
  const messages = [...(tail.round === null ? none : roundMessages(tail.round)), ...tail.behind];
  return { tail: { ...tail, length: tail.length + messages.length, round: null, behind: [] }, messages };
}

function roundMessages(round: Round): readonly ModelMessage[] {
  const { calls, results } = round;
  if (round.text === '' && calls.length === 0) return none; // interrupted before any output
  const said = { role: 'assistant', text: round.text, toolCalls: calls } as const;
  const assistant: ModelMessage = round.reasoning === undefined ? said : { ...said, reasoning: round.reasoning };
  if (calls.length === 0) return [assistant];
  const byCall = new Map(results.map((result) => [result.toolCallId, result]));
  return [assistant, { role: 'tool', results: calls.map(({ toolCallId }) => resultOf(toolCallId, byCall)) }];
}

function resultOf(toolCallId: string, byCall: ReadonlyMap<string, ModelToolResult>): ModelToolResult {
  const result = byCall.get(toolCallId);
  if (result === undefined) throw new Error(`(M2) a completion was requested while ${toolCallId} has no result`);
  return result;
}

function addCall(tail: TranscriptTail, call: ModelToolCall, lists: GrowingLists): TranscriptTail {
  if (tail.round === null) throw new Error(`(M2) ${call.toolCallId} was requested outside a round`);
  const { toolCallId, operation } = call;
  const calls = lists.append(tail.round.calls, [{ toolCallId, operation, arguments: call.arguments }]);
  return { ...tail, round: { ...tail.round, calls } };
}

function callInRound({ round }: TranscriptTail, toolCallId: string): { round: Round; call: ModelToolCall } | null {
  // From the end: a call that is settled where it was requested is the last one.
  const call = round?.calls.findLast((candidate) => candidate.toolCallId === toolCallId);
  return round === null || call === undefined ? null : { round, call };
}

const later = 'Its result will come as a later event; do not call the tool again for it.';
const placeholders = {
  result: `Still running. ${later}`,
  approval: `Waiting for a person to approve this call. ${later}`,
  choice: `Waiting for the user to choose. ${later}`,
  tool: `Waiting for the user to choose. ${later}`,
  login: `Authorisation is in progress: the user has been asked to log in. ${later}`, // R86
} as const;

function detach(tail: TranscriptTail, toolCallId: string, lists: GrowingLists): TranscriptTail {
  const found = callInRound(tail, toolCallId);
  if (found === null) return tail;
  const { round, call } = found;
  const result: ModelToolResult = {
    toolCallId,
    operation: call.operation,
    outcome: 'still_running',
    content: [text(placeholders[round.waiting?.[toolCallId] ?? 'result'])],
  };
  return {
    ...tail,
    round: { ...round, results: lists.append(round.results, [result]) },
    detached: { ...tail.detached, [toolCallId]: call },
  };
}

function settle(tail: TranscriptTail, event: Event<'ToolCallSettled'>, lists: GrowingLists): TranscriptTail {
  const { toolCallId, outcome } = event;
  const isConfirmation = own(tail.subscribed, toolCallId) !== undefined; // it was opened just before
  const content = isConfirmation ? confirmation(event.content, toolCallId) : event.content;
  const late = own(tail.detached, toolCallId);
  if (late !== undefined) {
    const detached = without(tail.detached, toolCallId);
    const pair = injectedPair(tail.eventStyle, late, {
      toolCallId: `${toolCallId}_late`,
      note: '(late result)',
      outcome,
      content,
    });
    return { ...tail, detached, behind: lists.append(tail.behind, pair) };
  }
  const found = callInRound(tail, toolCallId);
  if (found === null) return tail;
  const { round, call } = found;
  const result: ModelToolResult = { toolCallId, operation: call.operation, outcome, content };
  return { ...tail, round: { ...round, results: lists.append(round.results, [result]) } };
}

/** (M5) */
function confirmation(content: Content, toolCallId: string): Content {
  if (plainText(content).includes(toolCallId)) return content;
  return [...content, text(`[Subscription ID: ${toolCallId}]`)];
}

/** A child's own transcript begins: its opening contains what it was spawned for. (M6) */
function begin(tail: TranscriptTail, event: Event<'ThreadOpened'>): TranscriptTail {
  const { spawnedBy, ancestors = [], policies } = event;
  const opened = { ...tail, eventStyle: policies.eventStyle, depth: ancestors.length };
  if (spawnedBy?.kind !== 'event') return opened;
  const { toolCallId, operation } = spawnedBy;
  return { ...opened, subscribed: { [toolCallId]: { toolCallId, operation, arguments: spawnedBy.arguments } } };
}

const openCallsOf = {
  child: {
    outcome: 'still_running',
    content: [text('Still running in the parent thread; its result will not come to this one.')],
  },
  fork: {
    outcome: 'interrupted',
    content: [text('Interrupted: this thread was forked from the one that made the call.')],
  },
} as const;

/** Without placeholders: an inheriting thread gets the text of `openCallsOf` for each call that is open here. */
const settledResults = ({ results }: Round): ReadonlyMap<string, ModelToolResult> =>
  new Map(results.filter(({ outcome }) => outcome !== 'still_running').map((result) => [result.toolCallId, result]));

/** How a transcript ends for a thread that inherits it: open calls stay open in their own thread. (M2, M6) */
export function inherit(tail: TranscriptTail, by: keyof typeof openCallsOf): readonly ModelMessage[] {
  if (tail.round === null) return tail.behind;
  const settled = settledResults(tail.round);
  const results = tail.round.calls.map(
    ({ toolCallId, operation }) => settled.get(toolCallId) ?? { toolCallId, operation, ...openCallsOf[by] },
  );
  return [...roundMessages({ ...tail.round, results }), ...tail.behind];
}

/** A text that answers no call: it stands behind the round as a user message. (M3) */
const say = (tail: TranscriptTail, content: Content, lists: GrowingLists): TranscriptTail => ({
  ...tail,
  behind: lists.append<ModelMessage>(tail.behind, [{ role: 'user', content }]),
});

function reportOf({ childId, report, closed }: Event<'ChildReported'>): Content {
  return [text(`[${closed ? 'last report' : 'report'} of child thread ${childId}]`), ...report];
}

const scheduled = ({ scheduleId, scheduledFor, missed }: Event<'ScheduleCame'>): string =>
  scheduleNote({ name: scheduleId, scheduledFor, missed });

function scheduleNote({ name, scheduledFor, missed }: MessageSchedule): string {
  const late = missed === 0 ? '' : `, after ${missed} missed`;
  return `[schedule ${name}, for ${new Date(scheduledFor).toISOString()}${late}]`;
}

/** The model reads which time of a schedule a message is for. */
const saidIn = ({ content, schedule }: Event<'MessageAccepted'>): Content =>
  schedule === undefined ? content : [text(scheduleNote(schedule)), ...content];

function waitFor(tail: TranscriptTail, toolCallId: string, what: keyof typeof placeholders): TranscriptTail {
  const found = callInRound(tail, toolCallId);
  if (found === null) return tail;
  const { round } = found;
  return { ...tail, round: { ...round, waiting: { ...round.waiting, [toolCallId]: what } } };
}

function subscribe(tail: TranscriptTail, toolCallId: string): TranscriptTail {
  const call = callInRound(tail, toolCallId)?.call ?? own(tail.detached, toolCallId);
  return call === undefined ? tail : { ...tail, subscribed: { ...tail.subscribed, [toolCallId]: call } };
}

function injectEvent(
  tail: TranscriptTail,
  event: Event<'SubscriptionEventReceived'>,
  lists: GrowingLists,
): TranscriptTail {
  const call = own(tail.subscribed, event.toolCallId);
  if (call === undefined) return tail;
  const injected = tail.injected + 1;
  const pair = injectedPair(tail.eventStyle, call, {
    toolCallId: `${call.toolCallId}_event_${tail.depth}_${injected}`,
    note: event.final ? '(subscription ended)' : '(subscription remains active)',
    outcome: 'result',
    content: event.content,
  });
  return { ...tail, injected, behind: lists.append(tail.behind, pair) };
}

/** The model sees when a sleep ends, and how. The due time is in the log and in the call's result already. */
function sleep(tail: TranscriptTail, { timerId }: Event<'TimerSet'>): TranscriptTail {
  return { ...tail, sleeping: [...(tail.sleeping ?? []), timerId] };
}

function wakeUp(
  tail: TranscriptTail,
  event: Event<'TimerFired'> | Event<'TimerCancelled'>,
  lists: GrowingLists,
): TranscriptTail {
  if (tail.sleeping?.includes(event.timerId) !== true) return tail;
  const awake = { ...tail, sleeping: tail.sleeping.filter((timerId) => timerId !== event.timerId) };
  const note =
    event.type === 'TimerFired'
      ? `[the timer has fired, scheduled for ${new Date(event.scheduledFor).toISOString()}]`
      : '[woken before the timer, which is cancelled]';
  return say(awake, [text(note)], lists);
}

/** The content of an injected pair. */
interface Injected {
  readonly toolCallId: string;
  readonly note: string;
  readonly outcome: ModelToolResult['outcome'];
  readonly content: Content;
}

/** An injected pair of call and result, so that no call ever has two results. R70, R71, messages §5 */
function injectedPair(
  style: Policies['eventStyle'],
  call: ModelToolCall,
  { toolCallId, note, outcome, content }: Injected,
): readonly ModelMessage[] {
  const injected: ModelToolCall =
    style === 'kind'
      ? {
          toolCallId,
          operation: call.operation,
          arguments: { ...call.arguments, kind: `interrupt:${call.toolCallId} ${note}` },
        }
      : {
          toolCallId,
          operation: injectedEventToolName, // R72
          arguments: {
            original_tool_name: call.operation,
            original_tool_call_id: call.toolCallId,
            original_args: call.arguments,
          },
        };
  return [
    { role: 'assistant', text: '', toolCalls: [injected] },
    { role: 'tool', results: [{ toolCallId, operation: injected.operation, outcome, content }] },
  ];
}
