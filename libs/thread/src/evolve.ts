// Folds one event into the thread. Total over every event type, no default branch; knows no rule, only consequences.
// Each noun has a file in evolve/.
import type { RecordedEvent } from './event.ts';
import { threadLimits } from './policy.ts';
import { arrivedMessage, type Choice, dayOf, own, type Thread, tokensOn, unopenedThread, without } from './thread.ts';
import { newCall, rejectCallback, withCall, withoutCall } from './evolve/call.ts';
import { changeCall } from './evolve/changed-call.ts';
import { assignChoice, countApproval, settleChoice } from './evolve/choice.ts';
import { openSubscription, receiveEvent } from './evolve/subscription.ts';
import { fireTimer, setTimer, withoutReasons, withoutTimer } from './evolve/timer.ts';
import { inUsageDay } from './evolve/usage.ts';
import { firstWords } from './first-words.ts';
import { staleToolsets, withheldTools } from './evolve/toolset.ts';
import { arrived, arrivedFromFamily, inTurn } from './evolve/turn.ts';
import { unknownKind } from './unreachable.ts';

/** Folds one event; `at` is its commit's time in milliseconds since the epoch. */
export function evolve(thread: Thread, event: RecordedEvent, at: number): Thread {
  const after = applyEvent(advance(thread, at), event, at);
  return after.usage === thread.usage ? after : inUsageDay(thread, after, at);
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
      const opened = { agent, model, toolServers, policies, limits, userId, title };
      return { ...thread, status: 'open', openedAt: at, ...opened, parent, ancestors, spawnedBy, baseUrls };
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
        firstWords: thread.firstWords ?? firstWords(event.content),
        unseen: thread.unseen + 1,
        stalled: false,
        ...inTurn(thread, event.turnId, at),
        repeated: { key: '', times: 0 },
      };
    case 'MessageQueued':
      return { ...thread, queue: [...thread.queue, arrivedMessage(event)] };
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
        turnId: thread.turnId ?? event.turnId, // a fork that requests again: only its opening woke it
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
    case 'CredentialRefreshFailed':
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
    case 'SubscriptionClosed':
      return { ...thread, subscriptions: without(thread.subscriptions, event.toolCallId) };
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
      const children = event.closed ? without(thread.children, event.childId) : thread.children;
      return arrivedFromFamily({ ...thread, children }, event.turnId, at);
    }
    case 'ExternalEventReceived':
      return event.childId === null ? arrived(thread, event.turnId, at) : thread;
    case 'ParentMessageReceived':
      return arrivedFromFamily(thread, event.turnId, at);
    case 'TitleSet':
      return { ...thread, title: event.title, titledAt: thread.position };
    case 'OauthRequested':
      return changeCall(thread, event.toolCallId, (call) => ({
        ...call,
        waiting: {
          for: 'login',
          question: event.question ?? null,
          asked: { position: thread.position, at, expiresAt: event.expiresAt },
        },
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
        ...(event.assignees === undefined ? {} : { assignees: event.assignees }),
        ...(event.approvalsNeeded === undefined ? {} : { approvalsNeeded: event.approvalsNeeded }),
      };
      const waiting = changeCall(thread, toolCallId, (call) => ({
        ...call,
        waiting:
          kind === 'tool' ? { for: 'choice', choiceId, question: event.question ?? null } : { for: kind, choiceId },
      }));
      return { ...waiting, choices: { ...thread.choices, [choiceId]: choice } };
    }
    case 'ChoiceAssigned':
      return assignChoice(thread, event);
    case 'ApprovalCounted':
      return countApproval(thread, event);
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
      const rest = { ...thread, schedules: without(thread.schedules, event.scheduleId) };
      const timerId = own(thread.schedules, event.scheduleId)?.timerId ?? null;
      return timerId === null ? rest : withoutTimer(rest, timerId);
    }
    case 'ScheduleCame':
      return event.skipped ? thread : arrived(thread, event.turnId, at);
    case 'TurnInterrupted': // what arrived meanwhile is not part of the stopped turn
      return { ...thread, unseen: thread.arrivals };
    case 'BudgetExceeded':
      return {
        ...thread,
        stalled: true,
        lastError: { code: 'BUDGET_EXCEEDED', detail: `${event.budget}: ${event.used} of ${event.limit}`, at },
      };
    case 'ThreadForked':
      return { ...thread, forkedFrom: event.from, unseen: thread.unseen + (event.askAgain ? 1 : 0) };
    case 'ThreadClosed': // (thread T4)
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
    case 'ContentErased': // (thread T4)
      return event.scope === 'inherited' ? thread : withoutContent(thread);
    default:
      return unknownKind('event', (event as { readonly type: never }).type);
  }
}

/** Closed, and as empty as one that was never opened; what it has used stays counted. */
const withoutContent = ({ tenant, id, position, openedAt, updatedAt, usage, usageDays }: Thread): Thread => ({
  ...unopenedThread(tenant, id),
  ...{ position, openedAt, updatedAt, usage, usageDays, status: 'closed' },
});
