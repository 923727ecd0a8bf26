// Operations on one call: dispatch it, set its timeout, end it, withdraw it.
import { text } from '../content.ts';
import type { Draft } from '../draft.ts';
import type { CallTimerReason, Event, Outcome, TimerReason } from '../event.ts';
import { type Call, callOf, isUnsent } from '../thread.ts';
import { timeoutOf } from '../tools.ts';

/** A call that was sent and has no outcome yet, pending or detached. R34 */
export function sentCall({ thread }: Draft, toolCallId: string): Call | null {
  const call = callOf(thread, toolCallId);
  return call === undefined || isUnsent(call) ? null : call;
}

/** Owes the invocation; it is paid after the commit, so no call reaches a tool that is not in the history. I-05 */
export function dispatch(draft: Draft, call: Call): void {
  const { toolCallId, toolServer, toolsetSha256, operation, delivery, providerCallId } = call;
  if (toolServer === null) throw new Error(`${toolCallId} has no tool server and cannot be dispatched`);
  const { userId, ancestors, limits } = draft.thread;
  draft.owe({
    do: 'InvokeTool',
    id: toolCallId,
    toolCallId,
    toolServer,
    toolsetSha256,
    operation,
    arguments: call.arguments,
    providerCallId,
    userId,
    ...(ancestors.length === 0 ? {} : { ancestors }),
    delivery,
    callbackExpiresAt: limits.callbackTtlS === null ? null : draft.moment.now + limits.callbackTtlS * 1_000,
  });
  const timeoutMs = timeoutOf(draft.thread, operation);
  if (timeoutMs !== null) setTimer(draft, call, 'tool_timeout', draft.moment.now + timeoutMs);
}

export function setTimer(draft: Draft, call: Call, reason: CallTimerReason, due: number): void {
  oweTimer(draft, due, reason, { toolCallId: call.toolCallId });
}

/** A timer of the thread itself. */
export function setThreadTimer(draft: Draft, reason: 'sleep' | 'event_wait' | 'event_rate', due: number): void {
  oweTimer(draft, due, reason, {});
}

export function setScheduleTimer(draft: Draft, scheduleId: string, due: number): void {
  oweTimer(draft, due, 'schedule', { scheduleId });
}

function oweTimer(
  draft: Draft,
  due: number,
  reason: TimerReason,
  owner: { readonly toolCallId?: string; readonly scheduleId?: string },
): void {
  const timerId = draft.mint('tmr');
  draft.emit({ type: 'TimerSet', timerId, due, reason, ...owner });
  draft.owe({ do: 'SetTimer', id: timerId, timerId, due });
}

/** Settles with a text of the runtime; the model reads it as it reads a tool's error. */
export function settle(draft: Draft, call: Call, outcome: Outcome, code: string, detail: string): void {
  end(draft, call, { outcome, content: [text(`Error: ${detail}`)], code });
}

/** The one outcome of a call; a login that its tool had requested is forgotten. R88 */
export function end(
  draft: Draft,
  call: Call,
  ending: Pick<Event<'ToolCallSettled'>, 'outcome' | 'content' | 'code' | 'displayAs'>,
): void {
  const { toolCallId } = call;
  draft.emit({ type: 'ToolCallSettled', toolCallId, ...ending });
  if (call.askedToLogIn) draft.owe({ do: 'ForgetLogin', id: `forget:${toolCallId}`, toolCallId });
}

/** Settles a call without its tool: a dispatch that has not begun must not begin (V7), a running one may stop. R64 */
export function abandon(draft: Draft, call: Call, { notify }: { readonly notify: boolean }): void {
  if (isUnsent(call)) return; // no server has the call
  const { toolCallId } = call;
  draft.owe({ do: 'WithdrawCall', id: `withdraw:${toolCallId}`, toolCallId });
  if (notify) notifyCancel(draft, toolCallId);
}

/** Every tool server is notified that the call, or its subscription, is over. R64, R76 */
export function notifyCancel(draft: Draft, toolCallId: string, id = `cancel:${toolCallId}`): void {
  draft.owe({ do: 'SendCancelNotices', id, toolCallId, toolServers: draft.thread.toolServers });
}
