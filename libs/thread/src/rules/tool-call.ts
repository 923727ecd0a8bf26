// A call from the model's wish to its one outcome. A call is settled exactly once, by the first of result, dispatch
// failure, timeout, interruption, denial, "outcome unknown", unreadable result; anything later changes nothing. I-10, I-11
import type { Content } from '../content.ts';
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { Outcome } from '../event.ts';
import { allowanceKey } from '../evolve.ts';
import type { CallbackRejection, DispatchFailure, RequestedCall, TimerFiring, ToolResult } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { type Call, openCalls } from '../thread.ts';
import { needsApproval, toolsetOf } from '../tools.ts';
import { expireApproval, requestApproval } from './approval.ts';
import { abandon, dispatch, settle } from './call.ts';
import { loadToolsets } from './opening.ts';
import { wake } from './wake.ts';

/** One call of an assistant message: refused at once, shown to a person, or dispatched. R7, R9, R27 */
export function requestCall(draft: Draft, requested: RequestedCall): void {
  const { operation, providerCallId } = requested;
  const toolset = toolsetOf(draft.thread, operation);
  const toolCallId = draft.mint('call');
  const argumentsHash = draft.moment.sha256(JSON.stringify(requested.arguments));
  const open = openCalls(draft.thread).length;
  draft.emit({
    type: 'ToolCallRequested',
    toolCallId,
    operation,
    toolServer: toolset?.toolServer ?? null,
    arguments: requested.arguments,
    argumentsHash,
    providerCallId,
  });
  const call = draft.thread.calls[toolCallId];
  if (call === undefined) throw new Error(`(T2) ${toolCallId} is not open after it was requested`);
  if (toolset === undefined)
    return settle(draft, call, 'error', 'TOOL_UNKNOWN', `there is no tool named "${operation}"`);
  if (requested.problem !== null) return settle(draft, call, 'error', 'ARGUMENTS_INVALID', requested.problem);
  if (open >= threadLimits.pendingCallsMax)
    return settle(draft, call, 'error', 'CALLS_PENDING', `${open} calls are pending already`);
  if (isLooping(draft, call)) return;
  const allowed = draft.thread.allowed.includes(allowanceKey(call));
  if (needsApproval(draft.thread, toolset, operation) && !allowed)
    requestApproval(draft, call, requested, argumentsHash);
  else dispatch(draft, call, requested);
}

/** The same call again and again is a loop, and a loop is stopped with an event that says so. */
function isLooping(draft: Draft, call: Call): boolean {
  const { times } = draft.thread.repeated;
  if (times <= threadLimits.sameCallRepeatsMax) return false;
  settle(draft, call, 'error', 'BUDGET_EXCEEDED', `the same call was made ${times} times in a row`);
  draft.emit({ type: 'BudgetExceeded', budget: 'repeated_call', used: times, limit: threadLimits.sameCallRepeatsMax });
  return true;
}

/** A call that was sent and has no outcome yet, pending or detached; never one of another tool server. R34 */
function awaited(draft: Draft, toolCallId: string): Call | null {
  const call = draft.thread.calls[toolCallId];
  return call !== undefined && call.waiting.for === 'result' ? call : null;
}

export function takeResult(draft: Draft, input: ToolResult): Decision {
  const call = awaited(draft, input.toolCallId);
  // RAP tool-result, Routing: unmatched results are discarded, never injected. R35
  if (call === null || call.toolServer !== input.toolServer) return { committed: false, refusal: 'NOT_PENDING' };
  const display = input.displayAs === null ? {} : { displayAs: input.displayAs };
  draft.emit({
    type: 'ToolCallSettled',
    toolCallId: call.toolCallId,
    outcome: outcomeOf(input.content),
    content: input.content,
    ...display,
  });
  wake(draft);
  return draft.decided();
}

/** Errors are ordinary results whose text starts with `Error: `. messages §2 */
function outcomeOf(content: Content): Outcome {
  const first = content[0];
  if (first?.type !== 'text') return 'result';
  const said = 'text' in first ? first.text : first.preview;
  return said.startsWith('Error: ') ? 'error' : 'result';
}

/** R14, R56 */
export function takeDispatchFailure(draft: Draft, input: DispatchFailure): Decision {
  const call = awaited(draft, input.toolCallId);
  if (call === null) return { committed: false, refusal: 'NOT_PENDING' };
  settle(draft, call, input.outcome === 'unknown' ? 'outcome_unknown' : 'error', input.code, input.detail);
  // A server answered 409: its tools are fetched anew before the model is asked again. R107
  if (input.code === 'TOOLSET_CHANGED' && draft.thread.loading === null) loadToolsets(draft);
  wake(draft);
  return draft.decided();
}

/** A callback we could not accept is visible; one that tools would not send again settles the call. R33 */
export function takeRejection(draft: Draft, input: CallbackRejection): Decision {
  const call = awaited(draft, input.toolCallId);
  if (call === null) return { committed: false, refusal: 'NOT_PENDING' };
  const { toolCallId, reason, code } = input;
  draft.emit({ type: 'CallbackRejected', toolCallId, reason, code });
  if (input.settles || call.rejectedCallbacks + 1 >= threadLimits.rejectedCallbacksMax) {
    settle(draft, call, 'error', code, reason);
    wake(draft);
  }
  return draft.decided();
}

/** R58: a synthetic error after the configured time; an approval that nobody gave counts as denied. */
export function takeTimer(draft: Draft, input: TimerFiring): Decision {
  const timer = draft.thread.timers[input.timerId];
  const call = timer === undefined ? undefined : draft.thread.calls[timer.toolCallId];
  if (timer === undefined || call === undefined) return { committed: false, refusal: 'NO_TIMER' };
  draft.emit({ type: 'TimerFired', timerId: timer.timerId, scheduledFor: input.scheduledFor });
  if (timer.reason === 'approval_deadline') expireApproval(draft, call);
  else timeOut(draft, call, timer.due - call.since);
  wake(draft);
  return draft.decided();
}

function timeOut(draft: Draft, call: Call, afterMs: number): void {
  settle(draft, call, 'timed_out', 'TOOL_TIMED_OUT', `no result within ${Math.round(afterMs / 100) / 10} s`);
  abandon(draft, call, { notify: true });
}
