// One example of every durable event, for readers. Each is an event of the log as the thread writes it, and is shown as
// the API's own codec writes it.
//
// Invariants:
//   X1. Every event type has one, or this file does not compile; a test holds each to its schema, strictly.
import { type ApiEvent, apiEvent } from '@dormouse/runtime';
import { type CauseKind, defaultLimits, defaultPolicies, inputIds, type ThreadEvent } from '@dormouse/thread';

type Sample<Type extends ThreadEvent['type']> = Extract<ThreadEvent, { readonly type: Type }>;

/** (X1) */
type Samples = {
  readonly [Type in ThreadEvent['type']]: {
    readonly position: number;
    readonly cause: CauseKind;
    readonly event: Omit<Sample<Type>, 'type'>;
  };
};

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
  ThreadOpened: {
    position: 1,
    cause: 'request',
    event: {
      agent: { name: 'weather', version: 3 },
      model: 'demo',
      toolServers: ['example-tools'],
      policies: defaultPolicies,
      limits: defaultLimits,
      userId: 'user-7',
      title: null,
    },
  },
  ToolsetsRequested: { position: 2, cause: 'request', event: { loadId: load, toolServers: ['example-tools'] } },
  ToolsetsLoaded: {
    position: 3,
    cause: 'toolset',
    event: {
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
    },
  },
  ToolsetRejected: {
    position: 3,
    cause: 'toolset',
    event: {
      toolServer: 'example-tools',
      code: 'TOOLSET_INVALID',
      problems: ['/tools/0/inputSchema/type must be "object"'],
    },
  },
  ToolsetChanged: {
    position: 20,
    cause: 'toolset',
    event: { toolServer: 'example-tools', added: ['forecast'], removed: [], changed: ['weather'] },
  },
  MessageAccepted: { position: 4, cause: 'message', event: { messageId: message, content: [question] } },
  MessageQueued: { position: 9, cause: 'message', event: { messageId: message, content: [question] } },
  MessageRefused: {
    position: 9,
    cause: 'message',
    event: {
      messageId: message,
      code: 'CALLS_PENDING',
      detail: 'the thread is busy and its agent rejects messages meanwhile',
    },
  },
  RequestRefused: {
    position: 12,
    cause: 'request',
    event: {
      requestId: request,
      request: 'interrupt_request',
      code: 'NOTHING_TO_STOP',
      detail: 'nothing was running',
    },
  },
  CompletionRequested: { position: 5, cause: 'message', event: { completionId: completion, model: 'demo' } },
  CompletionRecorded: {
    position: 6,
    cause: 'completion',
    event: {
      completionId: completion,
      message: { text: '' },
      finishReason: 'tool_calls',
      usage: { inputTokens: 181, outputTokens: 12 },
      interrupted: false,
      final: false,
    },
  },
  CompletionFailed: {
    position: 6,
    cause: 'completion',
    event: {
      completionId: completion,
      code: 'MODEL_REFUSED',
      detail: '401: the key is not accepted',
      retryable: false,
    },
  },
  ToolCallRequested: {
    position: 7,
    cause: 'completion',
    event: {
      toolCallId: call,
      operation: 'weather',
      toolServer: 'example-tools',
      arguments: { city: 'Oslo' },
      argumentsHash: hash,
      providerCallId: 'call_1',
    },
  },
  ToolCallSettled: {
    position: 8,
    cause: 'result',
    event: {
      toolCallId: call,
      outcome: 'result',
      content: [{ type: 'text', text: 'Oslo, Norway: 2 °C, sleet' }],
      displayAs: [{ type: 'text', content: '2 °C in Oslo' }],
    },
  },
  ToolCallDetached: { position: 10, cause: 'message', event: { toolCallId: call } },
  ToolCallLateResult: { position: 14, cause: 'result', event: { toolCallId: call, used: false } },
  SubscriptionOpened: { position: 8, cause: 'result', event: { toolCallId: call } },
  SubscriptionEventHeld: { position: 8, cause: 'event', event: failedBuild },
  SubscriptionEventReceived: { position: 12, cause: 'event', event: { ...failedBuild, into: 'thread', childId: null } },
  SubscriptionClosed: { position: 15, cause: 'event', event: { toolCallId: call, reason: 'final' } },
  ChildSpawned: {
    position: 8,
    cause: 'completion',
    event: {
      childId: child,
      reason: 'call',
      toolCallId: call,
      queuedEvents: 0,
      instructions: 'Compare the two offers.',
    },
  },
  ChildReported: {
    position: 11,
    cause: 'child',
    event: { childId: child, report: [{ type: 'text', text: 'The second offer is cheaper.' }], closed: true },
  },
  ParentMessageReceived: {
    position: 6,
    cause: 'parent',
    event: { content: [{ type: 'text', text: 'Look at the delivery dates too.' }] },
  },
  TitleSet: { position: 8, cause: 'completion', event: { title: 'Rain in Oslo' } },
  OauthRequested: { position: 8, cause: 'oauth', event: { toolCallId: call, expiresAt: at + day } },
  CredentialRefreshFailed: { position: 8, cause: 'dispatch', event: { toolServer: 'crm', userId: 'user-7' } },
  CallbackRejected: {
    position: 8,
    cause: 'result',
    event: { toolCallId: call, reason: 'text or content is required', code: 'INVALID_BODY' },
  },
  ChoiceRequested: {
    position: 8,
    cause: 'completion',
    event: {
      choiceId: choice,
      kind: 'approval',
      toolCallId: call,
      prompt: 'Allow delete_everything of example-tools?',
      choices: ['allow', 'deny', 'allow_for_thread'],
      default: 1,
      arguments: {},
      argumentsHash: hash,
      expiresAt: at + day,
    },
  },
  ChoiceAssigned: {
    position: 9,
    cause: 'request',
    event: { choiceId: choice, assignees: ['ann@example.com'], by: 'backend' },
  },
  ApprovalCounted: {
    position: 9,
    cause: 'choice',
    event: { choiceId: choice, by: 'ann@example.com', credential: idOf('key', 'PD') },
  },
  ChoiceSettled: {
    position: 10,
    cause: 'choice',
    event: { choiceId: choice, decision: 'deny', by: 'ann@example.com', reason: 'Not on a Friday.' },
  },
  TimerSet: {
    position: 9,
    cause: 'completion',
    event: { timerId: timer, due: at + 3 * day, reason: 'sleep', toolCallId: call },
  },
  TimerFired: { position: 10, cause: 'timer', event: { timerId: timer, scheduledFor: at } },
  TimerCancelled: { position: 10, cause: 'result', event: { timerId: timer } },
  MigrationStarted: {
    position: 12,
    cause: 'request',
    event: { migrationId: migration, toolServers: { 'example-tools': 'https://tools-2.example.com' } },
  },
  MigrationEnded: {
    position: 13,
    cause: 'operator',
    event: { migrationId: migration, ok: true, migrated: ['example-tools'], problems: [] },
  },
  ScheduleSet: {
    position: 9,
    cause: 'request',
    event: {
      scheduleId: schedule,
      schedule: { cron: '0 9 * * 1-5', timeZone: 'Europe/Vienna', message: 'What is new?', missed: 'once' },
    },
  },
  ScheduleRemoved: { position: 30, cause: 'request', event: { scheduleId: schedule } },
  ExternalEventReceived: {
    position: 14,
    cause: 'event',
    event: {
      ...{ source: 'billing', eventId: 'evt-41', associative: true, childId: null },
      content: [{ type: 'text', text: 'The payment of invoice 7 has failed.' }],
    },
  },
  ScheduleCame: {
    position: 11,
    cause: 'timer',
    event: {
      scheduleId: schedule,
      scheduledFor: at,
      missed: 0,
      skipped: false,
      content: [{ type: 'text', text: 'What is new?' }],
    },
  },
  TurnInterrupted: { position: 10, cause: 'request', event: { requestId: request } },
  BudgetExceeded: { position: 40, cause: 'result', event: { budget: 'completions_per_wake', used: 50, limit: 50 } },
  ThreadForked: {
    position: 2,
    cause: 'request',
    event: { from: { threadId: parent, position: 17 }, askAgain: false },
  },
  ThreadClosed: { position: 41, cause: 'request', event: { by: request } },
  ContentErased: { position: 42, cause: 'operator', event: { scope: 'family', certificate: erasure } },
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
