// One example of every durable event, for readers. Each is an event of the log as the thread writes it, and is shown as
// the API's own codec writes it.
//
// Invariants:
//   X1. Every event type has one, or this file does not compile; a test holds each to its schema, strictly.
import { type ApiEvent, apiEvent } from '@dormouse/runtime';
import { type CauseKind, defaultLimits, defaultPolicies, inputIds, type ThreadEvent } from '@dormouse/thread';

interface Sample<Event> {
  readonly position: number;
  readonly cause: CauseKind;
  readonly event: Event;
}

const sample = <Event>(position: number, cause: CauseKind, event: NoInfer<Event>): Sample<Event> => ({
  position,
  cause,
  event,
});

type Recorded<Type extends ThreadEvent['type']> = Omit<Extract<ThreadEvent, { readonly type: Type }>, 'type'>;

/** (X1) */
type Samples = { readonly [Type in ThreadEvent['type']]: Sample<Recorded<Type>> };

const at = Date.UTC(2026, 0, 5, 9, 30);
const day = 86_400_000;
const idOf = (prefix: string, last: string): string => `${prefix}_01KE6HWA00J3Q7ZVY6M4T8C2${last}`;

const message = idOf('msg', 'PA');
const completion = idOf('cmp', 'PB');
const call = idOf('call', 'PC');
const choice = idOf('chc', 'PD');
const child = idOf('thr', 'PE');
const parent = idOf('thr', 'PF');
const request = idOf('req', 'PG');
const timer = idOf('tmr', 'PH');
const schedule = idOf('sch', 'PJ');
const migration = idOf('mig', 'PK');
const load = idOf('tsl', 'PM');
const callOfParent = idOf('call', 'PN');
const erasure = idOf('ers', 'PP');

const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';
const question = { type: 'text', text: 'Will it rain in Oslo?' } as const;
const failedBuild = {
  toolCallId: call,
  eventId: 'build-41',
  content: [{ type: 'text', text: 'build 41 failed' }],
  associative: true,
  final: false,
} as const;

const samples: Samples = {
  ThreadOpened: sample(1, 'request', {
    agent: { name: 'weather', version: 3 },
    model: 'demo',
    toolServers: ['example-tools'],
    policies: defaultPolicies,
    limits: defaultLimits,
    userId: 'user-7',
    title: null,
  }),
  ToolsetsRequested: sample(2, 'request', { loadId: load, toolServers: ['example-tools'] }),
  ToolsetsLoaded: sample(3, 'toolset', {
    toolsets: [
      {
        toolServer: 'example-tools',
        name: 'example-tools',
        sha256: hash,
        tools: ['weather', 'delete_everything'],
        definitions: ['3f1c9a0b', '77d0e2c4'],
        destructive: ['delete_everything'],
        atMostOnce: ['delete_everything'],
        stale: false,
      },
    ],
    withheld: [{ tool: 'clock', reason: 'offered by "example-tools" and "other-tools"' }],
  }),
  ToolsetRejected: sample(3, 'toolset', {
    toolServer: 'example-tools',
    code: 'TOOLSET_INVALID',
    problems: ['/tools/0/inputSchema/type must be "object"'],
  }),
  ToolsetChanged: sample(20, 'toolset', {
    toolServer: 'example-tools',
    added: ['forecast'],
    removed: [],
    changed: ['weather'],
  }),
  MessageAccepted: sample(4, 'message', { messageId: message, content: [question] }),
  MessageQueued: sample(9, 'message', { messageId: message, content: [question] }),
  MessageRefused: sample(9, 'message', {
    messageId: message,
    code: 'CALLS_PENDING',
    detail: 'the thread is busy and its agent rejects messages meanwhile',
  }),
  RequestRefused: sample(12, 'request', {
    requestId: request,
    request: 'interrupt_request',
    code: 'NOTHING_TO_STOP',
    detail: 'nothing was running',
  }),
  CompletionRequested: sample(5, 'message', { completionId: completion, model: 'demo' }),
  CompletionRecorded: sample(6, 'completion', {
    completionId: completion,
    message: { text: '' },
    finishReason: 'tool_calls',
    usage: { inputTokens: 181, outputTokens: 12 },
    interrupted: false,
    final: false,
  }),
  CompletionFailed: sample(6, 'completion', {
    completionId: completion,
    code: 'MODEL_REFUSED',
    detail: '401: the key is not accepted',
    retryable: false,
  }),
  ToolCallRequested: sample(7, 'completion', {
    toolCallId: call,
    operation: 'weather',
    toolServer: 'example-tools',
    arguments: { city: 'Oslo' },
    argumentsHash: hash,
    providerCallId: 'call_1',
  }),
  ToolCallSettled: sample(8, 'result', {
    toolCallId: call,
    outcome: 'result',
    content: [{ type: 'text', text: 'Oslo, Norway: 2 °C, sleet' }],
    displayAs: [{ type: 'text', content: '2 °C in Oslo' }],
  }),
  ToolCallDetached: sample(10, 'message', { toolCallId: call }),
  ToolCallLateResult: sample(14, 'result', { toolCallId: call, used: false }),
  SubscriptionOpened: sample(8, 'result', { toolCallId: call }),
  SubscriptionEventHeld: sample(8, 'event', failedBuild),
  SubscriptionEventReceived: sample(12, 'event', { ...failedBuild, into: 'thread', childId: null }),
  SubscriptionClosed: sample(15, 'event', { toolCallId: call, reason: 'final' }),
  ChildSpawned: sample(8, 'completion', {
    childId: child,
    reason: 'call',
    toolCallId: call,
    queuedEvents: 0,
    instructions: 'Compare the two offers.',
  }),
  ChildReported: sample(11, 'child', {
    childId: child,
    report: [{ type: 'text', text: 'The second offer is cheaper.' }],
    closed: true,
  }),
  ParentMessageReceived: sample(6, 'parent', { content: [{ type: 'text', text: 'Look at the delivery dates too.' }] }),
  TitleSet: sample(8, 'completion', { title: 'Rain in Oslo' }),
  OauthRequested: sample(8, 'oauth', { toolCallId: call, expiresAt: at + day }),
  CredentialRefreshFailed: sample(8, 'dispatch', { toolServer: 'crm', userId: 'user-7' }),
  CallbackRejected: sample(8, 'result', {
    toolCallId: call,
    reason: 'text or content is required',
    code: 'INVALID_BODY',
  }),
  ChoiceRequested: sample(8, 'completion', {
    choiceId: choice,
    kind: 'approval',
    toolCallId: call,
    prompt: 'Allow delete_everything of example-tools?',
    choices: ['allow', 'deny', 'allow_for_thread'],
    default: 1,
    arguments: {},
    argumentsHash: hash,
    expiresAt: at + day,
  }),
  ChoiceAssigned: sample(9, 'request', { choiceId: choice, assignees: ['ann@example.com'], by: 'backend' }),
  ApprovalCounted: sample(9, 'choice', { choiceId: choice, by: 'ann@example.com', credential: idOf('key', 'PD') }),
  ChoiceSettled: sample(10, 'choice', {
    choiceId: choice,
    decision: 'deny',
    by: 'ann@example.com',
    reason: 'Not on a Friday.',
  }),
  TimerSet: sample(9, 'completion', { timerId: timer, due: at + 3 * day, reason: 'sleep', toolCallId: call }),
  TimerFired: sample(10, 'timer', { timerId: timer, scheduledFor: at }),
  TimerCancelled: sample(10, 'result', { timerId: timer }),
  MigrationStarted: sample(12, 'request', {
    migrationId: migration,
    toolServers: { 'example-tools': 'https://tools-2.example.com' },
  }),
  MigrationEnded: sample(13, 'operator', {
    migrationId: migration,
    ok: true,
    migrated: ['example-tools'],
    problems: [],
  }),
  ScheduleSet: sample(9, 'request', {
    scheduleId: schedule,
    schedule: { cron: '0 9 * * 1-5', timeZone: 'Europe/Vienna', message: 'What is new?', missed: 'once' },
  }),
  ScheduleRemoved: sample(30, 'request', { scheduleId: schedule }),
  ExternalEventReceived: sample(14, 'event', {
    ...{ source: 'billing', eventId: 'evt-41', associative: true, childId: null },
    content: [{ type: 'text', text: 'The payment of invoice 7 has failed.' }],
  }),
  ScheduleCame: sample(11, 'timer', {
    scheduleId: schedule,
    scheduledFor: at,
    missed: 0,
    skipped: false,
    content: [{ type: 'text', text: 'What is new?' }],
  }),
  TurnInterrupted: sample(10, 'request', { requestId: request }),
  BudgetExceeded: sample(40, 'result', { budget: 'completions_per_wake', used: 50, limit: 50 }),
  ThreadForked: sample(2, 'request', { from: { threadId: parent, position: 17 }, askAgain: false }),
  ThreadClosed: sample(41, 'request', { by: request }),
  ContentErased: sample(42, 'operator', { scope: 'family', certificate: erasure }),
};

/** What `cause.id` is, by the kind of the input. */
const causeIds: Readonly<Record<CauseKind, string>> = {
  message,
  request,
  result: call,
  completion,
  dispatch: call,
  event: inputIds.subscriptionEvent(call, 'build-41'),
  child: inputIds.childReport(child, 'closed'),
  parent: inputIds.parentMessage(callOfParent),
  timer,
  choice: request,
  oauth: call,
  toolset: load,
  operator: migration,
};

/** By the wire's name of its type, as `GET …/events` answers it. */
export const eventExamples = (): ReadonlyMap<string, ApiEvent> =>
  new Map(
    Object.entries(samples).map(([type, { position, cause, event }]) => {
      const stamp = { turnId: message, cause: { kind: cause, id: causeIds[cause] } };
      const recorded = { type, ...event, ...stamp } as Parameters<typeof apiEvent>[0]['event'];
      const shown = apiEvent({ position, at, event: recorded });
      return [shown.type, shown];
    }),
  );
