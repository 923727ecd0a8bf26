// Folds one event into the thread. Total over every event type, no default branch; knows no rule, only consequences.
import type { RecordedEvent } from './event.ts';
import type { Call, Choice, Thread, Timer } from './thread.ts';
import { toolsetOf } from './tools.ts';
import { unreachable } from './unreachable.ts';

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
  if (Object.keys(thread.calls).length > 0)
    return { ...moved, usage: { ...thread.usage, waitingMs: thread.usage.waitingMs + elapsed } };
  return moved;
}

function applyEvent(thread: Thread, event: RecordedEvent, at: number): Thread {
  switch (event.type) {
    case 'ThreadOpened': {
      const { agent, model, toolServers, policies, limits, userId, title } = event;
      return { ...thread, status: 'open', openedAt: at, agent, model, toolServers, policies, limits, userId, title };
    }
    case 'ToolsetsRequested':
      return { ...thread, loading: event.loadId };
    case 'ToolsetsLoaded':
      return {
        ...thread,
        loading: null,
        toolsets: event.toolsets,
        problems: [...staleToolsets(event, at), ...withheldTools(event, at)],
      };
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
        completionsInWake: event.turnId === thread.turnId ? thread.completionsInWake : 0,
        repeated: { key: '', times: 0 },
        turnId: event.turnId,
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
        stalled: false,
      };
    case 'CompletionRecorded':
      return {
        ...thread,
        completion: null,
        lastError: null,
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
    case 'ToolCallDetached':
      return changeCall(thread, event.toolCallId, (call) => ({ ...call, detached: true }));
    case 'CallbackRejected':
      return changeCall(thread, event.toolCallId, (call) => ({
        ...call,
        rejectedCallbacks: call.rejectedCallbacks + 1,
      }));
    case 'ChoiceRequested': {
      const { choiceId, toolCallId, providerCallId, expiresAt } = event;
      const choice: Choice = { choiceId, toolCallId, expiresAt, since: at, position: thread.position };
      const waiting = changeCall(thread, toolCallId, (call) => ({
        ...call,
        waiting: { for: 'approval', choiceId, arguments: event.arguments, providerCallId },
      }));
      return { ...waiting, choices: { ...thread.choices, [choiceId]: choice } };
    }
    case 'ChoiceSettled':
      return settleChoice(thread, event);
    case 'TimerSet': {
      const { timerId, due, reason, toolCallId } = event;
      const timer: Timer = { timerId, due, reason, toolCallId };
      return {
        ...changeCall(thread, toolCallId, (call) => ({ ...call, timerId })),
        timers: { ...thread.timers, [timerId]: timer },
      };
    }
    case 'TimerFired':
      return withoutTimer(thread, event.timerId);
    case 'TurnInterrupted':
      return { ...thread, unseen: 0 };
    case 'BudgetExceeded':
      return {
        ...thread,
        stalled: true,
        lastError: { code: 'BUDGET_EXCEEDED', detail: `${event.budget}: ${event.used} of ${event.limit}`, at },
      };
    case 'ThreadClosed': // (T4)
      return {
        ...thread,
        status: 'closed',
        loading: null,
        completion: null,
        calls: {},
        choices: {},
        timers: {},
        queue: [],
        unseen: 0,
        stalled: false,
      };
    default:
      return unreachable(event);
  }
}

type Event<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { readonly type: Type }>;

function newCall(thread: Thread, event: Event<'ToolCallRequested'>, at: number): Call {
  const toolset = toolsetOf(thread, event.operation);
  return {
    toolCallId: event.toolCallId,
    operation: event.operation,
    toolServer: event.toolServer,
    toolsetSha256: toolset?.sha256 ?? '',
    delivery: toolset?.atMostOnce.includes(event.operation) === true ? 'at_most_once' : 'at_least_once',
    waiting: { for: 'result' },
    detached: false,
    since: at,
    timerId: null,
    rejectedCallbacks: 0,
  };
}

function settleChoice(thread: Thread, event: Event<'ChoiceSettled'>): Thread {
  const choice = thread.choices[event.choiceId];
  if (choice === undefined) return thread;
  const call = thread.calls[choice.toolCallId];
  const { [event.choiceId]: _settled, ...choices } = thread.choices;
  const settled = { ...thread, choices };
  if (call === undefined) return settled;
  const freed = call.timerId === null ? settled : withoutTimer(settled, call.timerId);
  const allowed = event.decision === 'allow_for_thread' ? [...thread.allowed, allowanceKey(call)] : thread.allowed;
  return { ...withCall(freed, { ...call, waiting: { for: 'result' }, timerId: null }), allowed };
}

/** An allowance ends when the tool's manifest changes: its definition may have. */
export const allowanceKey = (tool: Pick<Call, 'toolServer' | 'operation' | 'toolsetSha256'>): string =>
  `${tool.toolServer} ${tool.operation} ${tool.toolsetSha256}`;

const withCall = (thread: Thread, call: Call): Thread => ({
  ...thread,
  calls: { ...thread.calls, [call.toolCallId]: call },
});

function changeCall(thread: Thread, toolCallId: string, change: (call: Call) => Call): Thread {
  const call = thread.calls[toolCallId];
  return call === undefined ? thread : withCall(thread, change(call));
}

/** The call goes, and with it its timer and its open choice. */
function withoutCall(thread: Thread, toolCallId: string): Thread {
  const { [toolCallId]: settled, ...calls } = thread.calls;
  if (settled === undefined) return thread;
  const without = settled.timerId === null ? { ...thread, calls } : withoutTimer({ ...thread, calls }, settled.timerId);
  if (settled.waiting.for !== 'approval') return without;
  const { [settled.waiting.choiceId]: _open, ...choices } = thread.choices;
  return { ...without, choices };
}

function withoutTimer(thread: Thread, timerId: string): Thread {
  const { [timerId]: _gone, ...timers } = thread.timers;
  return { ...thread, timers };
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
