// What can be done to one call: send it, put a time on it, end it, take it back.
import { text } from '../content.ts';
import type { Draft } from '../draft.ts';
import type { Outcome, TimerReason } from '../event.ts';
import type { RequestedCall } from '../input.ts';
import { type Call, waitsForPerson } from '../thread.ts';
import { timeoutOf } from '../tools.ts';

/** Owes the invocation; it is paid after the commit, so no tool hears of a call that is not in the history. I-05 */
export function dispatch(
  draft: Draft,
  call: Call,
  requested: Pick<RequestedCall, 'arguments' | 'providerCallId'>,
): void {
  const { toolCallId, toolServer, toolsetSha256, operation, delivery } = call;
  if (toolServer === null) throw new Error(`${toolCallId} has no tool server and cannot be dispatched`);
  const { userId, limits } = draft.thread;
  draft.owe({
    do: 'InvokeTool',
    id: toolCallId,
    toolCallId,
    toolServer,
    toolsetSha256,
    operation,
    arguments: requested.arguments,
    providerCallId: requested.providerCallId,
    userId,
    delivery,
    callbackExpiresAt: limits.callbackTtlS === null ? null : draft.moment.now + limits.callbackTtlS * 1_000,
  });
  const timeoutMs = timeoutOf(draft.thread, operation);
  if (timeoutMs !== null) setTimer(draft, call, 'tool_timeout', draft.moment.now + timeoutMs);
}

export function setTimer(draft: Draft, call: Call, reason: TimerReason, due: number): void {
  const timerId = draft.mint('tmr');
  draft.emit({ type: 'TimerSet', timerId, due, reason, toolCallId: call.toolCallId });
  draft.owe({ do: 'SetTimer', id: timerId, timerId, due });
}

/** Settles with words of our own; the model reads them as it reads a tool's error. */
export function settle(draft: Draft, call: Call, outcome: Outcome, code: string, detail: string): void {
  draft.emit({
    type: 'ToolCallSettled',
    toolCallId: call.toolCallId,
    outcome,
    content: [text(`Error: ${detail}`)],
    code,
  });
}

/** A call that is settled without its tool's word: a dispatch not begun must not begin (V7), a running one may stop. R64 */
export function abandon(draft: Draft, call: Call, { notify }: { readonly notify: boolean }): void {
  if (waitsForPerson(call)) return; // never sent, nobody to tell
  const { toolCallId } = call;
  draft.owe({ do: 'WithdrawCall', id: `withdraw:${toolCallId}`, toolCallId });
  if (notify)
    draft.owe({
      do: 'SendCancelNotices',
      id: `cancel:${toolCallId}`,
      toolCallId,
      toolServers: draft.thread.toolServers,
    });
}
