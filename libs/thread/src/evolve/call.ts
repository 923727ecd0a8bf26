// Open tool calls: begun, changed, and gone with everything that belongs to them.
import type { Event } from '../event.ts';
import { type Call, callOf, type Thread, without } from '../thread.ts';
import { toolsetOf } from '../tools.ts';
import { replaceCall } from './changed-call.ts';
import { withoutTimer } from './timer.ts';

export function newCall(thread: Thread, event: Event<'ToolCallRequested'>, at: number): Call {
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

export const withCall = (thread: Thread, call: Call): Thread => ({ ...thread, calls: [...thread.calls, call] });

/** An unusable callback stays a problem of the thread as long as its call waits for a usable one. */
export function rejectCallback(thread: Thread, event: Event<'CallbackRejected'>, since: number): Thread {
  const { toolCallId, code, reason } = event;
  const call = callOf(thread, toolCallId);
  if (call === undefined) return thread;
  const problem = { code, detail: `${call.operation}: ${reason}`, since, toolCallId };
  const problems = [...thread.problems, problem];
  return { ...replaceCall(thread, { ...call, rejectedCallbacks: call.rejectedCallbacks + 1 }), problems };
}

/** The call goes, and with it its timers, its open choice, and the events that came before a confirmation. */
export function withoutCall(thread: Thread, toolCallId: string): Thread {
  const settled = callOf(thread, toolCallId);
  if (settled === undefined) return thread;
  const isOther = (of: { readonly toolCallId?: string }): boolean => of.toolCallId !== toolCallId;
  const calls = thread.calls.filter(isOther);
  const problems = settled.rejectedCallbacks === 0 ? thread.problems : thread.problems.filter(isOther);
  const held = thread.held.length === 0 ? thread.held : thread.held.filter(isOther);
  let rest: Thread = { ...thread, calls, held, problems };
  for (const timerId of [settled.timerId, settled.personTimerId])
    if (timerId !== null) rest = withoutTimer(rest, timerId);
  return 'choiceId' in settled.waiting ? { ...rest, choices: without(thread.choices, settled.waiting.choiceId) } : rest;
}
