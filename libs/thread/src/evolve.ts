// Folds one event into the thread. Total over every event type, no default branch; knows no rule, only consequences.
import type { RecordedEvent } from './event.ts';
import { threadLimits } from './policy.ts';
import {
  type Call,
  callOf,
  type Choice,
  dayOf,
  own,
  type Subscription,
  type Thread,
  type Timer,
  tokensOn,
} from './thread.ts';
import { toolsetOf } from './tools.ts';
import { unknownKind } from './unreachable.ts';

/** Folds one event; `at` is its commit's time in milliseconds since the epoch. */
export function evolve(thread: Thread, event: RecordedEvent, at: number): Thread {
  return applyEvent(advance(thread, at), event, at);
}

/** Position and the two clocks: time with a completion is active, time with only open calls is waiting. */
function advance(thread: Thread, at: number): Thread {
  const elapsed = thread.position === 0 ? 0 : Math.max(0, at - thread.updatedAt);
  const moved = { ...thread, position: thread.position + 1, updatedAt: at };
  if (elapsed === 0) return moved;
  if (thread.completion !== null)
    return { ...moved, usage: { ...thread.usage, activeMs: thread.usage.activeMs + elapsed } };
  if (thread.calls.length > 0)
    return { ...moved, usage: { ...thread.usage, waitingMs: thread.usage.waitingMs + elapsed } };
  return moved;
}

function applyEvent(thread: Thread, event: RecordedEvent, at: number): Thread {
  switch (event.type) {
    case 'ThreadOpened': {
      const { agent, model, toolServers, policies, limits, userId, title } = event;
      const { parent = null, ancestors = [], spawnedBy = null, baseUrls = {} } = event;
      const opened = {
        agent,
        model,
        toolServers,
        policies,
        limits,
        userId,
        title,
        parent,
        ancestors,
        spawnedBy,
        baseUrls,
      };
      return { ...thread, status: 'open', openedAt: at, ...opened };
    }
    case 'ToolsetsRequested':
      return { ...thread, loading: event.loadId };
    case 'ToolsetsLoaded':
      return {
        ...thread,
        loading: null,
        toolsets: event.toolsets,
        problems: [
          ...thread.problems.filter(({ toolCallId }) => toolCallId !== undefined),
          ...staleToolsets(event, at),
          ...withheldTools(event, at),
        ],
      };
    case 'ToolsetChanged':
      return thread;
    case 'ToolsetRejected':
      return {
        ...thread,
        problems: [
          ...thread.problems,
          { code: event.code, detail: `${event.toolServer}: ${event.problems.join('; ')}`, since: at },
        ],
      };
    case 'MessageAccepted':
      return {
        ...thread,
        queue: thread.queue.filter((message) => message.messageId !== event.messageId),
        unseen: thread.unseen + 1,
        stalled: false,
        ...inTurn(thread, event.turnId, at),
        repeated: { key: '', times: 0 },
      };
    case 'MessageQueued':
      return { ...thread, queue: [...thread.queue, { messageId: event.messageId, content: event.content }] };
    case 'MessageRefused':
      return { ...thread, queue: thread.queue.filter((message) => message.messageId !== event.messageId) };
    case 'RequestRefused':
      return thread;
    case 'CompletionRequested':
      return {
        ...thread,
        completion: { completionId: event.completionId, since: at },
        completions: thread.completions + 1,
        completionsInWake: thread.completionsInWake + 1,
        unseen: 0,
        arrivals: 0,
        merged: 0,
        lastAnswer: null,
        stalled: false,
        turnId: thread.turnId ?? event.turnId, // nothing woke it but its own opening: a fork that asks again
        // Events that wait for a child still wait for the end of their minute.
        timers: withoutReasons(
          thread.timers,
          thread.queuedEvents.length === 0 ? ['event_wait', 'event_rate'] : ['event_wait'],
        ),
      };
    case 'CompletionRecorded':
      return {
        ...thread,
        completion: null,
        lastAnswer:
          thread.spawnedBy?.kind === 'event' && event.final
            ? event.message.text.slice(0, threadLimits.familyCharactersMax)
            : null,
        lastError: null,
        tokensOfDay: {
          day: dayOf(at),
          tokens: tokensOn(thread, at) + event.usage.inputTokens + event.usage.outputTokens,
        },
        usage: {
          ...thread.usage,
          completions: thread.usage.completions + 1,
          inputTokens: thread.usage.inputTokens + event.usage.inputTokens,
          outputTokens: thread.usage.outputTokens + event.usage.outputTokens,
        },
      };
    case 'CompletionFailed':
      return {
        ...thread,
        completion: null,
        unseen: thread.unseen + 1,
        stalled: true,
        lastError: { code: event.code, detail: event.detail, at },
      };
    case 'ToolCallRequested': {
      const key = `${event.operation} ${event.argumentsHash}`;
      return {
        ...withCall(thread, newCall(thread, event, at)),
        usage: { ...thread.usage, toolCalls: thread.usage.toolCalls + 1 },
        repeated: { key, times: thread.repeated.key === key ? thread.repeated.times + 1 : 1 },
      };
    }
    case 'ToolCallSettled':
      return { ...withoutCall(thread, event.toolCallId), unseen: thread.unseen + 1 };
    case 'ToolCallLateResult':
      return thread;
    case 'SubscriptionOpened':
      return openSubscription(thread, event.toolCallId, at);
    case 'SubscriptionEventHeld': {
      const { toolCallId, eventId, content, associative, final } = event;
      return { ...thread, held: [...thread.held, { toolCallId, eventId, content, associative, final }] };
    }
    case 'SubscriptionEventReceived':
      return receiveEvent(thread, event, at);
    case 'SubscriptionClosed': {
      const { [event.toolCallId]: _closed, ...subscriptions } = thread.subscriptions;
      return { ...thread, subscriptions };
    }
    case 'ChildSpawned': {
      const { childId, reason } = event;
      const taken = thread.queuedEvents.filter((queued) => queued.toolCallId === event.toolCallId);
      const gone = new Set(taken.slice(0, event.queuedEvents));
      return {
        ...thread,
        children: { ...thread.children, [childId]: { childId, reason, since: at } },
        queuedEvents: thread.queuedEvents.filter((queued) => !gone.has(queued)),
      };
    }
    case 'ChildReported': {
      const { [event.childId]: _closed, ...children } = thread.children;
      return arrivedFromFamily(event.closed ? { ...thread, children } : thread, event.turnId, at);
    }
    case 'ParentMessageReceived':
      return arrivedFromFamily(thread, event.turnId, at);
    case 'TitleSet':
      return { ...thread, title: event.title, titledAt: thread.position };
    case 'OauthRequested':
      return changeCall(thread, event.toolCallId, (call) => ({
        ...call,
        waiting: { for: 'login', question: event.question ?? null },
        askedToLogIn: true,
      }));
    case 'ToolCallDetached':
      return changeCall(thread, event.toolCallId, (call) => ({ ...call, detached: true }));
    case 'CallbackRejected':
      if (event.code === 'LIMIT_REACHED' || event.code === 'REPEATED') return thread; // the callback was well-formed
      return rejectCallback(thread, event, at);
    case 'ChoiceRequested': {
      const { choiceId, kind, toolCallId, expiresAt } = event;
      const choice: Choice = {
        choiceId,
        kind,
        toolCallId,
        choices: event.choices.length,
        default: event.default,
        answerTo: event.answerTo ?? null,
        expiresAt,
        since: at,
        position: thread.position,
      };
      const waiting = changeCall(thread, toolCallId, (call) => ({
        ...call,
        waiting:
          kind === 'tool' ? { for: 'choice', choiceId, question: event.question ?? null } : { for: kind, choiceId },
      }));
      return { ...waiting, choices: { ...thread.choices, [choiceId]: choice } };
    }
    case 'ChoiceSettled':
      return settleChoice(thread, event);
    case 'TimerSet':
      return setTimer(thread, event);
    case 'TimerFired':
      return fireTimer(thread, event, at);
    case 'TimerCancelled':
      return withoutTimer(thread, event.timerId);
    case 'MigrationStarted': {
      const { migrationId, toolServers } = event;
      return { ...thread, migrating: { migrationId, toolServers } };
    }
    case 'MigrationEnded': {
      const moved = event.ok ? thread.migrating?.toolServers : {};
      return { ...thread, migrating: null, baseUrls: { ...thread.baseUrls, ...moved } };
    }
    case 'ScheduleSet': {
      const schedule = { ...event.schedule, scheduleId: event.scheduleId, since: at, timerId: null };
      return { ...thread, schedules: { ...thread.schedules, [event.scheduleId]: schedule } };
    }
    case 'ScheduleRemoved': {
      const { [event.scheduleId]: removed, ...schedules } = thread.schedules;
      const without = { ...thread, schedules };
      const timerId = removed?.timerId ?? null;
      return timerId === null ? without : withoutTimer(without, timerId);
    }
    case 'ScheduleCame':
      return event.skipped ? thread : arrived(thread, event.turnId, at);
    case 'TurnInterrupted': // what arrived meanwhile is not of the turn that was stopped
      return { ...thread, unseen: thread.arrivals };
    case 'BudgetExceeded':
      return {
        ...thread,
        stalled: true,
        lastError: { code: 'BUDGET_EXCEEDED', detail: `${event.budget}: ${event.used} of ${event.limit}`, at },
      };
    case 'ThreadForked':
      return { ...thread, forkedFrom: event.from, unseen: thread.unseen + (event.askAgain ? 1 : 0) };
    case 'ThreadClosed': // (T4)
      return {
        ...thread,
        status: 'closed',
        loading: null,
        migrating: null,
        completion: null,
        calls: [],
        choices: {},
        timers: {},
        subscriptions: {},
        held: [],
        queuedEvents: [],
        schedules: {},
        queue: [],
        unseen: 0,
        arrivals: 0,
        merged: 0,
        lastAnswer: null,
        stalled: false,
      };
    default:
      return unknownKind('event', (event as { readonly type: never }).type);
  }
}

type Event<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { readonly type: Type }>;

function newCall(thread: Thread, event: Event<'ToolCallRequested'>, at: number): Call {
  const toolset = toolsetOf(thread, event.operation);
  return {
    toolCallId: event.toolCallId,
    operation: event.operation,
    arguments: event.arguments,
    providerCallId: event.providerCallId,
    toolServer: event.toolServer,
    toolsetSha256: toolset?.sha256 ?? '',
    delivery: toolset?.atMostOnce.includes(event.operation) === true ? 'at_most_once' : 'at_least_once',
    waiting: { for: 'result' },
    detached: false,
    since: at,
    timerId: null,
    personTimerId: null,
    askedToLogIn: false,
    rejectedCallbacks: 0,
  };
}

/** Another turn: its completions are counted anew, and what had stalled the last one is over. */
function inTurn(thread: Thread, turnId: string, at: number): Partial<Thread> {
  if (turnId === thread.turnId) return {};
  return { turnId, completionsInWake: 0, countSince: at, stalled: false, repeated: { key: '', times: 0 } };
}

/** A turn that the family begins goes on with the count: two threads that answer each other must come to an end. */
function inOwnTurn(thread: Thread, turnId: string, at: number): Partial<Thread> {
  if (turnId === thread.turnId) return {};
  const { completionsInWake, countSince, lastError } = thread;
  const fresh = inTurn(thread, turnId, at);
  if (at - countSince >= threadLimits.ownTurnsWindowMs) return fresh;
  const stalled = thread.stalled && lastError?.code === 'BUDGET_EXCEEDED';
  return { ...fresh, completionsInWake, countSince, stalled };
}

/** Something came that nobody waited for; the model sees it with the next completion. (T6) */
function arrived(thread: Thread, turnId: string, at: number): Thread {
  return { ...thread, unseen: thread.unseen + 1, arrivals: thread.arrivals + 1, ...inTurn(thread, turnId, at) };
}

/** The same of a parent, a child, or the thread's own sleep. */
function arrivedFromFamily(thread: Thread, turnId: string, at: number): Thread {
  return { ...thread, unseen: thread.unseen + 1, arrivals: thread.arrivals + 1, ...inOwnTurn(thread, turnId, at) };
}

function openSubscription(thread: Thread, toolCallId: string, at: number): Thread {
  const call = callOf(thread, toolCallId);
  const toolServer = call?.toolServer ?? null;
  if (call === undefined || toolServer === null) return thread;
  const { operation } = call;
  const subscription: Subscription = {
    toolCallId,
    operation,
    toolServer,
    arguments: call.arguments,
    since: at,
    events: 0,
    lastEventAt: null,
    minute: { since: at, events: 0 },
  };
  return { ...thread, subscriptions: { ...thread.subscriptions, [toolCallId]: subscription } };
}

/** The minute that an event at this time belongs to, with it. */
export function minuteWith(minute: Subscription['minute'], at: number): Subscription['minute'] {
  return at - minute.since >= 60_000 ? { since: at, events: 1 } : { since: minute.since, events: minute.events + 1 };
}

function receiveEvent(before: Thread, event: Event<'SubscriptionEventReceived'>, at: number): Thread {
  const subscription = own(before.subscriptions, event.toolCallId);
  // A child is given the event it was opened for; the subscription is its parent's.
  if (subscription === undefined) return event.into === 'thread' ? arrived(before, event.turnId, at) : before;
  const minute = minuteWith(subscription.minute, at);
  const counted = { ...subscription, events: subscription.events + 1, lastEventAt: at, minute };
  const thread = { ...before, subscriptions: { ...before.subscriptions, [event.toolCallId]: counted } };
  if (event.into === 'child') return thread;
  if (event.into === 'queue') {
    const { toolCallId, eventId, content, final } = event;
    const { operation } = subscription;
    const merged = minute.events > threadLimits.eventsPerMinuteMax;
    const size = JSON.stringify(content).length;
    const queued = { toolCallId, eventId, content, final, operation, arguments: subscription.arguments, merged, size };
    return { ...thread, queuedEvents: [...thread.queuedEvents, queued] };
  }
  const tooFast = minute.events > threadLimits.eventsPerMinuteMax;
  return arrived(tooFast ? { ...thread, merged: thread.merged + 1 } : thread, event.turnId, at);
}

function setTimer(thread: Thread, event: Event<'TimerSet'>): Thread {
  const { timerId, due, reason, toolCallId = null, scheduleId = null } = event;
  const timer: Timer = { timerId, due, reason, toolCallId, scheduleId, since: thread.updatedAt };
  const set = { ...thread, timers: { ...thread.timers, [timerId]: timer } };
  if (toolCallId !== null)
    return changeCall(set, toolCallId, (call) =>
      reason === 'tool_timeout' ? { ...call, timerId } : { ...call, personTimerId: timerId },
    );
  const schedule = scheduleId === null ? undefined : own(thread.schedules, scheduleId);
  if (schedule !== undefined)
    return { ...set, schedules: { ...thread.schedules, [schedule.scheduleId]: { ...schedule, timerId } } };
  // The turn ends with the sleep: what its round brought is seen when the thread wakes, what arrived meanwhile wakes it.
  return reason === 'sleep' ? { ...set, unseen: thread.arrivals } : set;
}

function fireTimer(thread: Thread, event: Event<'TimerFired'>, at: number): Thread {
  const timer = own(thread.timers, event.timerId);
  const without = withoutTimer(thread, event.timerId);
  if (timer?.reason === 'sleep') return arrivedFromFamily(without, event.turnId, at);
  if (timer?.reason === 'event_rate') return { ...without, merged: 0 };
  return without;
}

function withoutReasons(timers: Thread['timers'], reasons: readonly Timer['reason'][]): Thread['timers'] {
  const kept = Object.values(timers).filter((timer) => !reasons.includes(timer.reason));
  return kept.length === Object.keys(timers).length
    ? timers
    : Object.fromEntries(kept.map((timer) => [timer.timerId, timer]));
}

function settleChoice(thread: Thread, event: Event<'ChoiceSettled'>): Thread {
  const choice = own(thread.choices, event.choiceId);
  if (choice === undefined) return thread;
  const call = callOf(thread, choice.toolCallId);
  const { [event.choiceId]: _settled, ...choices } = thread.choices;
  const settled = { ...thread, choices };
  if (call === undefined) return settled;
  const freed = call.personTimerId === null ? settled : withoutTimer(settled, call.personTimerId);
  const allowed = event.decision === 'allow_for_thread' ? [...thread.allowed, allowanceKey(call)] : thread.allowed;
  return {
    ...changeCall(freed, call.toolCallId, (freedCall) => ({ ...freedCall, waiting: { for: 'result' } })),
    allowed,
  };
}

/** An allowance ends when the tool's manifest changes: its definition may have. */
export const allowanceKey = (tool: Pick<Call, 'toolServer' | 'operation' | 'toolsetSha256'>): string =>
  `${tool.toolServer} ${tool.operation} ${tool.toolsetSha256}`;

const withCall = (thread: Thread, call: Call): Thread => ({ ...thread, calls: [...thread.calls, call] });

const replaceCall = (thread: Thread, changed: Call): Thread => ({
  ...thread,
  calls: thread.calls.map((call) => (call.toolCallId === changed.toolCallId ? changed : call)),
});

const withoutProblems = ({ problems }: Thread, toolCallId: string): Thread['problems'] =>
  problems.filter((problem) => problem.toolCallId !== toolCallId);

/** What a tool sent and nobody can use stays to be seen as long as its call waits for something better. */
function rejectCallback(thread: Thread, event: Event<'CallbackRejected'>, since: number): Thread {
  const { toolCallId, code, reason } = event;
  const call = callOf(thread, toolCallId);
  if (call === undefined) return thread;
  const problem = { code, detail: `${call.operation}: ${reason}`, since, toolCallId };
  const problems = [...thread.problems, problem];
  return { ...replaceCall(thread, { ...call, rejectedCallbacks: call.rejectedCallbacks + 1 }), problems };
}

function changeCall(thread: Thread, toolCallId: string, change: (call: Call) => Call): Thread {
  const call = callOf(thread, toolCallId);
  return call === undefined ? thread : replaceCall(thread, change(call));
}

/** The call goes, and with it its timers, its open choice, and the events that came before a confirmation. */
function withoutCall(thread: Thread, toolCallId: string): Thread {
  const settled = callOf(thread, toolCallId);
  if (settled === undefined) return thread;
  const calls = thread.calls.filter((call) => call.toolCallId !== toolCallId);
  const problems = settled.rejectedCallbacks === 0 ? thread.problems : withoutProblems(thread, toolCallId);
  const held = thread.held.length === 0 ? thread.held : thread.held.filter((event) => event.toolCallId !== toolCallId);
  let without: Thread = { ...thread, calls, held, problems };
  for (const timerId of [settled.timerId, settled.personTimerId])
    if (timerId !== null) without = withoutTimer(without, timerId);
  if (!('choiceId' in settled.waiting)) return without;
  const { [settled.waiting.choiceId]: _open, ...choices } = thread.choices;
  return { ...without, choices };
}

/** The timer goes, from the call or schedule that it belongs to, too. */
function withoutTimer(thread: Thread, timerId: string): Thread {
  const { [timerId]: gone, ...timers } = thread.timers;
  if (gone === undefined) return thread;
  const { toolCallId, scheduleId } = gone;
  const schedule = scheduleId === null ? undefined : own(thread.schedules, scheduleId);
  const without = { ...thread, timers };
  if (schedule !== undefined)
    return { ...without, schedules: { ...thread.schedules, [schedule.scheduleId]: { ...schedule, timerId: null } } };
  if (toolCallId === null) return without;
  return changeCall(without, toolCallId, (call) => ({
    ...call,
    timerId: call.timerId === timerId ? null : call.timerId,
    personTimerId: call.personTimerId === timerId ? null : call.personTimerId,
  }));
}

function staleToolsets(event: Event<'ToolsetsLoaded'>, since: number): Thread['problems'] {
  const stale = event.toolsets.filter((toolset) => toolset.stale);
  return stale.map((toolset) => ({
    code: 'TOOLSET_UNREACHABLE',
    detail: `${toolset.toolServer}: using the last good copy of its tools`,
    since,
  }));
}

function withheldTools(event: Event<'ToolsetsLoaded'>, since: number): Thread['problems'] {
  return event.withheld.map((withheld) => ({
    code: 'TOOL_NAME_DUPLICATE',
    detail: `${withheld.tool}: ${withheld.reason}`,
    since,
  }));
}
