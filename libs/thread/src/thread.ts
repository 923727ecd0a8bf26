// The state of one thread: the fold of its events, and all that `decide` may read. Plain JSON, so that a snapshot is
// the state itself; its size does not grow with history.
//
// Invariants:
//   T1. At most one completion is outstanding; `completion` names it.
//   T2. A call is in `calls` from `ToolCallRequested` to `ToolCallSettled`, once.
//   T3. `unseen` counts what the next completion will show the model for the first time.
//   T4. A closed thread has no completion, calls, choices, subscriptions, timers or queue, and only refusals are added
//       to its log. Its children live on.
//   T5. `position` counts the events folded; the next commit's version is exactly this number.
//   T6. `arrivals` counts the part of `unseen` that no call waited for: events, reports, messages of the parent.
//   T7. A value with an id from outside is looked up with `own`: an id may be spelt `constructor`.
import type { TenantId } from './tenant-id.ts';
import type { Delivery } from './effect.ts';
import type { TimerReason } from './event.ts';
import type {
  AgentReference,
  ArrivedEvent,
  ArrivedMessage,
  ReceivedEvent,
  Schedule,
  SpawnedBy,
  ThreadPosition,
  Usage,
} from './input.ts';
import { defaultLimits, defaultPolicies, type Limits, type Policies } from './policy.ts';
import type { LoadedToolset } from './toolset.ts';

/**
 * A call waits for its result (it is sent, or on its way); for a person's approval (it is not sent); or for a person
 * whom its tool asks to choose or to log in (it is sent, and its result may come at any time).
 */
export type WaitingFor =
  | { readonly for: 'result' }
  | { readonly for: 'approval'; readonly choiceId: string }
  | { readonly for: 'choice'; readonly choiceId: string; readonly question: string | null }
  | {
      readonly for: 'login';
      readonly question: string | null;
      /** Where and when it was asked, and its deadline; absent in states of earlier releases. */
      readonly asked?: { readonly position: number; readonly at: number; readonly expiresAt: number };
    };

/** An open call. `waiting` says for what; a detached call no longer blocks the model but still owes one outcome. */
export interface Call {
  readonly toolCallId: string;
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly providerCallId: string;
  /** Null for an unknown or a built-in tool; such a call is settled in the commit that requests it. */
  readonly toolServer: string | null;
  readonly toolsetSha256: string;
  readonly delivery: Delivery;
  readonly waiting: WaitingFor;
  readonly detached: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly timerId: string | null;
  /** Deadline of the person it waits for, beside the call's own timeout. */
  readonly personTimerId: string | null;
  /** Its tool sent the URL of a login, which is kept until the call is settled. */
  readonly askedToLogIn: boolean;
  readonly rejectedCallbacks: number;
  /** When a person's last answer let it go on, milliseconds since the epoch; absent when no person was asked. */
  readonly resumedAt?: number;
}

export interface Choice {
  readonly choiceId: string;
  readonly kind: 'approval' | 'tool';
  readonly toolCallId: string;
  readonly choices: number;
  readonly default: number;
  /** For a tool's choice: the sealed URL that receives the answer. */
  readonly answerTo: string | null;
  readonly expiresAt: number;
  readonly since: number;
  readonly position: number;
  /** Labels of the people whose task it is. */
  readonly assignees?: readonly string[];
  /** Credentials that must allow the call; absent for one. */
  readonly approvalsNeeded?: number;
  /** Those that count so far. */
  readonly approvals?: readonly Approval[];
  /** Credentials for one answer whose approvals count no more, because the arguments were changed. */
  readonly spent?: readonly string[];
  /** Position of the event with the arguments that it is about, where a person has changed them. */
  readonly editedAt?: number;
  /** Position of the last event that changed it while it is open. */
  readonly changedAt?: number;
}

/** An approval that counts while others are missing. */
export interface Approval {
  readonly by: string;
  readonly credential: string;
  readonly once: boolean;
  readonly forThread: boolean;
}

export interface Timer {
  readonly timerId: string;
  readonly due: number;
  readonly reason: TimerReason;
  readonly toolCallId: string | null;
  readonly scheduleId: string | null;
  readonly since: number;
}

/** Something outside that may wake the thread at any time, for months. */
export interface Subscription {
  readonly toolCallId: string;
  readonly operation: string;
  readonly toolServer: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly since: number;
  readonly events: number;
  readonly lastEventAt: number | null;
  /** The running minute: when it began, and the number of its events. */
  readonly minute: { readonly since: number; readonly events: number };
}

/** An event that waits until a child may be opened for it. */
export interface QueuedEvent extends ArrivedEvent {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** True when it came too fast: it shares a child with the others of its minute. */
  readonly merged: boolean;
  /** Length of the content as JSON. */
  readonly size: number;
}

/** A child that has not sent its final report. */
export interface Child {
  readonly childId: string;
  readonly reason: 'event' | 'call';
  readonly since: number;
}

export interface ThreadSchedule extends Schedule {
  readonly scheduleId: string;
  readonly since: number;
  readonly timerId: string | null;
}

/** Its fields alone, whatever else an input or an event has. */
export const arrivedMessage = ({ messageId, content, source, schedule }: ArrivedMessage): ArrivedMessage => ({
  messageId,
  content,
  ...(source === undefined ? {} : { source }),
  ...(schedule === undefined ? {} : { schedule }),
});

export interface Completion {
  readonly completionId: string;
  readonly since: number;
}

export interface ThreadProblem {
  readonly code: string;
  readonly detail: string;
  readonly since: number;
  /** For an open call: the problem is removed with the call. */
  readonly toolCallId?: string;
}

export interface Failure {
  readonly code: string;
  readonly detail: string;
  readonly at: number;
}

export interface UsageTotals extends Usage {
  readonly completions: number;
  readonly toolCalls: number;
  /** Time with a completion or an open call. */
  readonly activeMs: number;
  readonly waitingMs: number;
}

/** A UTC day with usage, and the totals before it. */
export interface UsageDay {
  /** Days since 1970. */
  readonly day: number;
  readonly before: UsageTotals;
}

export interface Thread {
  readonly tenant: TenantId;
  readonly id: string;
  readonly position: number;
  readonly status: 'unopened' | 'open' | 'closed';
  readonly openedAt: number;
  /** Time of the last event, milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly agent: AgentReference;
  readonly model: string;
  readonly toolServers: readonly string[];
  readonly policies: Policies;
  readonly limits: Limits;
  readonly userId: string | null;
  readonly title: string | null;
  /** Position of the event that gave the title; 0 for none. */
  readonly titledAt: number;
  /** Of the first message, see `firstWords`; null before it, and when it has none. */
  readonly firstWords: string | null;
  readonly parent: ThreadPosition | null;
  /** Root → parent. */
  readonly ancestors: readonly string[];
  readonly spawnedBy: SpawnedBy | null;
  readonly forkedFrom: ThreadPosition | null;
  /** The running migration; no completion is requested meanwhile. */
  readonly migrating: { readonly migrationId: string; readonly toolServers: Readonly<Record<string, string>> } | null;
  /** Addresses of tool servers that were migrated, by name. */
  readonly baseUrls: Readonly<Record<string, string>>;
  /** The outstanding load of toolsets; no completion is requested meanwhile. */
  readonly loading: string | null;
  readonly toolsets: readonly LoadedToolset[];
  readonly problems: readonly ThreadProblem[];
  readonly completion: Completion | null;
  /** Completions that have been requested so far; the next one's ordinal. */
  readonly completions: number;
  /** Completions since an input from outside the family last began a turn, see `countSince`. */
  readonly completionsInWake: number;
  /** When the count of `completionsInWake` began, milliseconds since the epoch. */
  readonly countSince: number;
  readonly unseen: number;
  readonly arrivals: number;
  /** Those of `arrivals` that came too fast and wait for the end of their minute. */
  readonly merged: number;
  /** For an event's child: its last answer that ended a turn, until it goes on. */
  readonly lastAnswer: string | null;
  /** Set by a model failure or an exceeded budget; cleared by the next message or a retry. */
  readonly stalled: boolean;
  /** Open calls, in the model's order. A list: an object with ever new ids makes the engine learn a shape each time. */
  readonly calls: readonly Call[];
  readonly choices: Readonly<Record<string, Choice>>;
  readonly timers: Readonly<Record<string, Timer>>;
  readonly subscriptions: Readonly<Record<string, Subscription>>;
  readonly held: readonly ReceivedEvent[];
  readonly children: Readonly<Record<string, Child>>;
  readonly queuedEvents: readonly QueuedEvent[];
  readonly schedules: Readonly<Record<string, ThreadSchedule>>;
  readonly queue: readonly ArrivedMessage[];
  /** Tools that a person allowed for this thread, see `allowanceKey`. */
  readonly allowed: readonly string[];
  /** The last call's operation and arguments (hashed) and how often it was requested in a row. */
  readonly repeated: { readonly key: string; readonly times: number };
  readonly turnId: string | null;
  readonly usage: UsageTotals;
  /** The last two days with usage, see `dailyUsage`. */
  readonly usageDays: readonly UsageDay[];
  /** Tokens of the UTC day that `day` counts, from 1970. */
  readonly tokensOfDay: { readonly day: number; readonly tokens: number };
  readonly lastError: Failure | null;
}

/** The thread before its opening. */
export function unopenedThread(tenant: TenantId, id: string): Thread {
  return {
    tenant,
    id,
    position: 0,
    status: 'unopened',
    openedAt: 0,
    updatedAt: 0,
    agent: { name: '', version: 0 },
    model: '',
    toolServers: [],
    policies: defaultPolicies,
    limits: defaultLimits,
    userId: null,
    title: null,
    titledAt: 0,
    firstWords: null,
    parent: null,
    ancestors: [],
    spawnedBy: null,
    forkedFrom: null,
    migrating: null,
    baseUrls: {},
    loading: null,
    toolsets: [],
    problems: [],
    completion: null,
    completions: 0,
    completionsInWake: 0,
    countSince: 0,
    unseen: 0,
    arrivals: 0,
    merged: 0,
    lastAnswer: null,
    stalled: false,
    calls: [],
    choices: {},
    timers: {},
    subscriptions: {},
    held: [],
    children: {},
    queuedEvents: [],
    schedules: {},
    queue: [],
    allowed: [],
    repeated: { key: '', times: 0 },
    turnId: null,
    usage: { inputTokens: 0, outputTokens: 0, completions: 0, toolCalls: 0, activeMs: 0, waitingMs: 0 },
    usageDays: [],
    tokensOfDay: { day: 0, tokens: 0 },
    lastError: null,
  };
}

/** The own value of this id, never an inherited one. (T7) Mostly there is none; then this is faster than reading. */
export const own = <Value>(named: Readonly<Record<string, Value>>, id: string): Value | undefined =>
  Object.hasOwn(named, id) ? named[id] : undefined;

/** All of them but that of this id. */
export function without<Value>(named: Readonly<Record<string, Value>>, id: string): Readonly<Record<string, Value>> {
  const { [id]: _gone, ...others } = named;
  return others;
}

/** The call while it is open. */
export const callOf = ({ calls }: Pick<Thread, 'calls'>, toolCallId: string): Call | undefined =>
  calls.find((call) => call.toolCallId === toolCallId);

/** The thread whose history goes before this one's own, and up to which position. */
export const inheritsFrom = (thread: Pick<Thread, 'parent' | 'forkedFrom'>): ThreadPosition | null =>
  thread.parent ?? thread.forkedFrom;

/** Calls that the next completion must wait for. */
export const blockingCalls = (thread: Thread): readonly Call[] => thread.calls.filter((call) => !call.detached);

/** Calls that no machine will settle: an approval, a choice, a login. */
export const waitsForPerson = (call: Call): boolean => call.waiting.for !== 'result';

/** Calls that were sent to no tool server. */
export const isUnsent = (call: Call): boolean => call.waiting.for === 'approval';

/** Whether something may still wake the thread: open calls, subscriptions, timers, children, a load, a queue. */
export const mayWake = (thread: Thread): boolean =>
  [thread.calls, thread.subscriptions, thread.timers, thread.children, thread.schedules].some(
    (open) => Object.keys(open).length > 0,
  ) ||
  thread.completion !== null ||
  thread.loading !== null ||
  thread.queue.length > 0 ||
  thread.queuedEvents.length > 0;

export const timerOf = (thread: Thread, reason: TimerReason): Timer | undefined =>
  Object.values(thread.timers).find((timer) => timer.reason === reason);

export const dayOf = (milliseconds: number): number => Math.floor(milliseconds / 86_400_000);

/** Tokens used on the day of this moment. */
export const tokensOn = ({ tokensOfDay }: Pick<Thread, 'tokensOfDay'>, now: number): number =>
  tokensOfDay.day === dayOf(now) ? tokensOfDay.tokens : 0;
