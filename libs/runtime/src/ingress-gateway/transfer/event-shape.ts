// Whether a JSON value is an event as the runtime records it: for events from elsewhere. Our own log is trusted.
//
// Invariants:
//   S1. Every field of every event type has its check here, or this file does not compile.
//   S2. Unknown fields are allowed, and bounded in depth: another release may have written them.
//   S3. A string that is used as a key is not the name of a member that every object has.
import { isJsonObject, jsonDepthMax } from '@dormouse/json';
import { idCharactersMax } from '@dormouse/protocol';
import type {
  Limits,
  LoadedToolset,
  Policies,
  RecordedEvent,
  Schedule,
  ThreadEvent,
  ThreadPosition,
} from '@dormouse/thread';

/** Arguments of a call are as deep as JSON from outside may be; an event has them a few levels down. */
const depthMax = jsonDepthMax + 8;
/** The last millisecond that a Date can show. */
const timeMsMax = 8_640_000_000_000_000;

type Check = (value: unknown) => boolean;
type Fields<Shape> = { readonly [Name in keyof Shape]-?: Check };
type FieldsOf<Event extends ThreadEvent> = Fields<Omit<Event, 'type'>>;

export const isRecordedEvent = (value: unknown): value is RecordedEvent =>
  isJsonObject(value) && isShallow(value, depthMax) && isStamped(value) && isEvent(value);

/** Milliseconds since the epoch that every reader can show. */
export const isTime: Check = (value) => amount(value) && Number(value) >= 0 && Number(value) <= timeMsMax;

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)));

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const amount: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const place: Check = (value) => count(value) && value !== 0;
/** (S3) */
const id: Check = (value) => typeof value === 'string' && value.length <= idCharactersMax && !(value in {});
const hash: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

const oneOf =
  (...names: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && names.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const record =
  (check: Check): Check =>
  (value) =>
    isJsonObject(value) && Object.values(value).every(check);
const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const having = (fields: Readonly<Record<string, Check>>): Check => {
  const checks = Object.entries(fields);
  return (value) => isJsonObject(value) && checks.every(([name, check]) => check(value[name]));
};

const texts = list(text);
const isStamped = having({ turnId: text, cause: having({ kind: text, id: text }) });
const image = either(
  having({ mediaType: text, data: text, blob: optional(hash) }),
  having({ mediaType: text, blob: hash }),
);
const content = list(
  either(
    having({ type: oneOf('text'), text, blob: optional(hash) }),
    having({ type: oneOf('text'), blob: hash, preview: text }),
    (value) => having({ type: oneOf('image') })(value) && image(value),
  ),
);
const displayAs = list(
  either(
    having({ type: oneOf('text'), content: text }),
    having({ type: oneOf('diff'), content: having({ path: text, patch: text }) }),
    having({ type: oneOf('image'), content: image }),
  ),
);
const threadPosition: Fields<ThreadPosition> = { threadId: id, position: place };
const interrupt = oneOf('cancel', 'keep', 'queue', 'reject');
const toolApproval = either(
  oneOf('always', 'never'),
  having({ mode: oneOf('always'), approvals_needed: optional(place), assignees: optional(texts) }),
);
const policies: Fields<Policies> = {
  onInterrupt: interrupt,
  onInterruptHuman: interrupt,
  eventStyle: oneOf('kind', 'reserved'),
  eventChildren: oneOf('close_when_idle', 'keep'),
  approve: having({ mode: oneOf('none', 'destructive', 'all'), tools: record(toolApproval) }),
  cancelSubscriptionsOnClose: flag,
};
const limits: Fields<Limits> = {
  completionsPerWakeMax: amount,
  toolTimeoutMs: record(nullable(amount)),
  tokensPerDayMax: nullable(amount),
  eventWaitMsMax: amount,
  callbackTtlS: nullable(amount),
};
const toolset: Fields<LoadedToolset> = {
  ...{ toolServer: text, name: text, sha256: text, stale: flag },
  ...{ tools: texts, definitions: optional(texts), destructive: texts, atMostOnce: texts },
};
const schedule: Fields<Schedule> = { cron: text, timeZone: text, message: text, missed: oneOf('skip', 'once') };
const source = optional(having({ name: text, deliveryId: text }));
const ofSchedule = optional(having({ name: text, scheduledFor: isTime, missed: count }));
const received = { toolCallId: id, eventId: nullable(text), content, associative: flag, final: flag };

/** (S1) */
const shapes: { readonly [Type in ThreadEvent['type']]: FieldsOf<Extract<ThreadEvent, { readonly type: Type }>> } = {
  ThreadOpened: {
    ...{ agent: having({ name: text, version: place }), model: text, toolServers: texts },
    ...{ policies: having(policies), limits: having(limits), userId: nullable(text), title: nullable(text) },
    ...{ parent: optional(having(threadPosition)), ancestors: optional(list(id)), baseUrls: optional(record(text)) },
    spawnedBy: optional(
      either(
        having({ kind: oneOf('event'), toolCallId: id, operation: text, arguments: isJsonObject }),
        having({ kind: oneOf('call'), toolCallId: id }),
      ),
    ),
  },
  ToolsetsRequested: { loadId: id, toolServers: texts },
  ToolsetsLoaded: { toolsets: list(having(toolset)), withheld: list(having({ tool: text, reason: text })) },
  ToolsetRejected: { toolServer: text, code: text, problems: texts },
  ToolsetChanged: { toolServer: text, added: texts, removed: texts, changed: texts },
  MessageAccepted: { messageId: id, content, source, schedule: ofSchedule },
  MessageQueued: { messageId: id, content, source, schedule: ofSchedule },
  MessageRefused: { messageId: id, code: text, detail: text },
  RequestRefused: { requestId: id, request: text, code: text, detail: text },
  CompletionRequested: { completionId: id, model: text },
  CompletionRecorded: {
    ...{ completionId: id, message: having({ text, reasoning: optional(text) }), finishReason: text },
    ...{ usage: having({ inputTokens: amount, outputTokens: amount }), interrupted: flag, final: flag },
  },
  CompletionFailed: { completionId: id, code: text, detail: text, retryable: flag },
  ToolCallRequested: {
    ...{ toolCallId: id, operation: text, toolServer: nullable(text), arguments: isJsonObject },
    ...{ argumentsHash: text, providerCallId: text },
  },
  ToolCallSettled: { toolCallId: id, outcome: text, content, displayAs: optional(displayAs), code: optional(text) },
  ToolCallDetached: { toolCallId: id },
  ToolCallLateResult: { toolCallId: id, used: flag },
  SubscriptionOpened: { toolCallId: id },
  SubscriptionEventHeld: received,
  SubscriptionEventReceived: { ...received, into: oneOf('thread', 'child', 'queue'), childId: nullable(id) },
  SubscriptionClosed: { toolCallId: id, reason: text },
  ChildSpawned: { childId: id, reason: text, toolCallId: id, queuedEvents: count, instructions: optional(text) },
  ChildReported: { childId: id, report: content, closed: flag },
  ParentMessageReceived: { content },
  ExternalEventReceived: {
    ...{ source: text, eventId: nullable(text), content, associative: flag, childId: nullable(id) },
  },
  TitleSet: { title: text },
  OauthRequested: { toolCallId: id, question: optional(text), expiresAt: isTime },
  CredentialRefreshFailed: { toolServer: text, userId: text },
  CallbackRejected: { toolCallId: id, reason: text, code: text },
  ChoiceRequested: {
    ...{ choiceId: id, kind: oneOf('approval', 'tool'), toolCallId: id, prompt: text, choices: texts, default: count },
    ...{ arguments: optional(isJsonObject), argumentsHash: optional(text), answerTo: optional(text) },
    ...{ question: optional(text), warnings: optional(texts), expiresAt: isTime },
    ...{ assignees: optional(texts), approvalsNeeded: optional(place) },
  },
  ChoiceAssigned: { choiceId: id, assignees: texts, by: text },
  ApprovalCounted: {
    ...{ choiceId: id, by: text, credential: text, once: optional(flag), forThread: optional(flag) },
    ...{ reason: optional(text), edited: optional(flag), argumentsAllowed: optional(isJsonObject) },
  },
  ChoiceSettled: {
    ...{ choiceId: id, decision: optional(text), selected: optional(count), by: text, reason: optional(text) },
    ...{ edited: optional(flag), argumentsAllowed: optional(isJsonObject) },
  },
  TimerSet: { timerId: id, due: isTime, reason: text, toolCallId: optional(id), scheduleId: optional(id) },
  TimerFired: { timerId: id, scheduledFor: isTime },
  TimerCancelled: { timerId: id },
  MigrationStarted: { migrationId: id, toolServers: record(text) },
  MigrationEnded: { migrationId: id, ok: flag, migrated: texts, problems: texts },
  ScheduleSet: { scheduleId: id, schedule: having(schedule) },
  ScheduleRemoved: { scheduleId: id },
  ScheduleCame: { scheduleId: id, scheduledFor: isTime, missed: count, skipped: flag, content },
  TurnInterrupted: { requestId: id },
  BudgetExceeded: { budget: text, used: amount, limit: amount },
  ThreadForked: { from: having(threadPosition), askAgain: flag },
  ThreadClosed: { by: text },
  ContentErased: { scope: text, certificate: nullable(text) },
};

const checks = new Map(Object.entries(shapes).map(([type, fields]) => [type, having(fields)]));
const isEvent: Check = (value) =>
  isJsonObject(value) && typeof value['type'] === 'string' && checks.get(value['type'])?.(value) === true;
