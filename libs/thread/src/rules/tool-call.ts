// A call from the model's wish to its one outcome. A call is settled exactly once, by the first of result, dispatch
// failure, timeout, interruption, denial, "outcome unknown", unreadable result; anything later changes nothing. I-10,
// I-11
import type { AfterAnswer } from '../built-in/built-in-tool.ts';
import { isBuiltIn, runBuiltIn } from '../built-in/built-in-tools.ts';
import type { Content } from '../content.ts';
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { Outcome } from '../event.ts';
import { allowanceKey } from '../evolve/choice.ts';
import { credentialRefreshFailed } from '../input.ts';
import type { CallbackRejection, DispatchFailure, RequestedCall, TimerFiring, ToolResult } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { blockingCalls, type Call, callOf, own, type Timer, waitsForPerson } from '../thread.ts';
import type { LoadedToolset } from '../toolset.ts';
import { needsApproval, toolsetOf } from '../tools.ts';
import { expireApproval, requestApproval } from './approval.ts';
import { abandon, dispatch, end, notifyCancel, sentCall, setTimer, settle } from './call.ts';
import { openQueuedChildren } from './child.ts';
import { loadToolsets } from './opening.ts';
import { expireQuestion, settleByTool, withdrawQuestion } from './person.ts';
import { scheduleCame } from './schedule.ts';
import { heldFor, receive, subscriptionProblem } from './subscription.ts';
import { beginsTurn, wake } from './wake.ts';

/** One call of an assistant message: refused at once, shown to a person, or dispatched. R7, R9, R27 */
export function requestCall(draft: Draft, requested: RequestedCall): AfterAnswer | null {
  const { operation, providerCallId } = requested;
  const toolset = toolsetOf(draft.thread, operation);
  const toolCallId = draft.mint('call');
  const argumentsHash = draft.moment.sha256(JSON.stringify(requested.arguments));
  const open = draft.thread.calls.length;
  draft.emit({
    type: 'ToolCallRequested',
    toolCallId,
    operation,
    toolServer: toolset?.toolServer ?? null,
    arguments: requested.arguments,
    argumentsHash,
    providerCallId,
  });
  const call = callOf(draft.thread, toolCallId);
  if (call === undefined) throw new Error(`(T2) ${toolCallId} is not open after it was requested`);
  if (isLooping(draft, call)) return null;
  const refusal = refusalOf(call, toolset, requested, open);
  if (refusal !== null) {
    settle(draft, call, 'error', refusal.code, refusal.detail);
    return null;
  }
  if (toolset === undefined) return runBuiltIn(draft, call);
  const allowed = draft.thread.allowed.includes(allowanceKey(call));
  if (needsApproval(draft.thread, toolset, operation) && !allowed) requestApproval(draft, call, argumentsHash);
  else dispatch(draft, call);
  return null;
}

/** Why a call is answered with an error instead of being made; the model can act on it. R7, R8 */
function refusalOf(
  { operation }: Call,
  toolset: LoadedToolset | undefined,
  requested: RequestedCall,
  open: number,
): { readonly code: string; readonly detail: string } | null {
  if (toolset === undefined && !isBuiltIn(operation))
    return { code: 'TOOL_UNKNOWN', detail: `there is no tool named "${operation}"` };
  if (requested.problem !== null) return { code: 'ARGUMENTS_INVALID', detail: requested.problem };
  if (open >= threadLimits.pendingCallsMax)
    return { code: 'CALLS_PENDING', detail: `${open} calls are pending already` };
  return null;
}

/** The same call again and again is a loop; it is stopped with an event that names it. */
function isLooping(draft: Draft, call: Call): boolean {
  const { times } = draft.thread.repeated;
  if (times <= threadLimits.sameCallRepeatsMax) return false;
  settle(draft, call, 'error', 'BUDGET_EXCEEDED', `the same call was made ${times} times in a row`);
  draft.emit({ type: 'BudgetExceeded', budget: 'repeated_call', used: times, limit: threadLimits.sameCallRepeatsMax });
  return true;
}

export function takeResult(draft: Draft, input: ToolResult): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  // RAP tool-result, Routing: unmatched results are discarded, never injected. R35
  if (call === null) return takeLateResult(draft, input);
  if (call.toolServer !== input.toolServer) return 'NOT_PENDING';
  settleByTool(draft, call);
  if (input.subscription) subscribe(draft, call, input);
  else end(draft, call, resultOf(input));
  wake(draft);
}

function resultOf({ content, displayAs }: ToolResult): Parameters<typeof end>[2] {
  return { outcome: outcomeOf(content), content, ...(displayAs === null ? {} : { displayAs }) };
}

/** The call has subscribed: its result is the confirmation; events that came before it follow, in order. R69, R83 */
function subscribe(draft: Draft, call: Call, input: ToolResult): void {
  const { toolCallId } = call;
  const problem = subscriptionProblem(draft);
  if (problem !== null) {
    settle(draft, call, 'error', 'LIMIT_REACHED', problem);
    return abandon(draft, call, { notify: true });
  }
  const held = heldFor(draft, call);
  draft.emit({ type: 'SubscriptionOpened', toolCallId });
  end(draft, call, resultOf(input));
  for (const event of held) {
    const subscription = own(draft.thread.subscriptions, toolCallId);
    if (subscription !== undefined) receive(draft, subscription, event);
  }
}

/** The call is settled. A subscription that the result opened has no listener: its server is notified, once. */
function takeLateResult(draft: Draft, { toolCallId, subscription }: ToolResult): StableRefusal | void {
  if (!subscription) return 'NOT_PENDING';
  draft.emit({ type: 'ToolCallLateResult', toolCallId, used: false });
  const isOpenHere = own(draft.thread.subscriptions, toolCallId) !== undefined;
  if (!isOpenHere) notifyCancel(draft, toolCallId, `cancel-late:${toolCallId}`);
}

/** Errors are ordinary results whose text starts with `Error: `. messages §2 */
function outcomeOf(content: Content): Outcome {
  const first = content[0];
  if (first?.type !== 'text') return 'result';
  const said = 'text' in first ? first.text : first.preview;
  return said.startsWith('Error: ') ? 'error' : 'result';
}

/** R14, R56 */
export function takeDispatchFailure(draft: Draft, input: DispatchFailure): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  if (call === null) return 'NOT_PENDING';
  withdrawQuestion(draft, call, 'dispatch failure');
  const { userId } = draft.thread;
  if (input.code === credentialRefreshFailed && call.toolServer !== null && userId !== null)
    draft.emit({ type: 'CredentialRefreshFailed', toolServer: call.toolServer, userId });
  settle(draft, call, input.outcome === 'unknown' ? 'outcome_unknown' : 'error', input.code, input.detail);
  // A server answered 409: its tools are fetched again before the next completion is requested. R107
  if (input.code === 'TOOLSET_CHANGED' && draft.thread.loading === null) loadToolsets(draft, { afterChange: true });
  wake(draft);
}

/** An unacceptable callback is visible; one that tools would not send again settles the call. R33 */
export function takeRejection(draft: Draft, input: CallbackRejection): StableRefusal | void {
  const call = sentCall(draft, input.toolCallId);
  if (call === null) return 'NOT_PENDING';
  const { toolCallId, reason, code } = input;
  draft.emit({ type: 'CallbackRejected', toolCallId, reason, code });
  if (input.settles || call.rejectedCallbacks + 1 >= threadLimits.rejectedCallbacksMax) {
    withdrawQuestion(draft, call, 'rejection');
    settle(draft, call, 'error', code, reason);
    wake(draft);
  }
}

/** R58: a synthetic error after the configured time; an approval without an answer counts as denied. */
export function takeTimer(draft: Draft, input: TimerFiring): StableRefusal | void {
  const timer = own(draft.thread.timers, input.timerId);
  if (timer === undefined) return 'NO_TIMER';
  const { timerId, reason } = timer;
  draft.emit(
    { type: 'TimerFired', timerId, scheduledFor: input.scheduledFor },
    reason === 'sleep' ? beginsTurn(draft) : undefined,
  );
  if (timer.toolCallId !== null) expire(draft, timer);
  else timePassed(draft, timer);
  wake(draft);
}

/** A timer of one call. */
function expire(draft: Draft, timer: Timer): void {
  const call = callOf(draft.thread, timer.toolCallId ?? '');
  if (call === undefined) return;
  if (timer.reason === 'approval_deadline') return expireApproval(draft, call);
  if (timer.reason !== 'tool_timeout') return expireQuestion(draft, call);
  if (!waitsForPerson(call)) return timeOut(draft, call, timer.due - call.since);
  // A person may take longer, but not longer than their own deadline.
  const deadline = call.personTimerId === null ? undefined : own(draft.thread.timers, call.personTimerId)?.due;
  setTimer(draft, call, 'tool_timeout', Math.max(deadline ?? 0, draft.moment.now + timer.due - timer.since));
}

/** A timer of the thread itself. */
function timePassed(draft: Draft, timer: Timer): void {
  const schedule = timer.scheduleId === null ? undefined : own(draft.thread.schedules, timer.scheduleId);
  if (schedule !== undefined) scheduleCame(draft, schedule, timer);
  if (timer.reason === 'event_rate') openQueuedChildren(draft);
  if (timer.reason === 'event_wait')
    for (const { toolCallId } of blockingCalls(draft.thread)) draft.emit({ type: 'ToolCallDetached', toolCallId });
}

function timeOut(draft: Draft, call: Call, afterMs: number): void {
  settle(draft, call, 'timed_out', 'TOOL_TIMED_OUT', `no result within ${Math.round(afterMs / 100) / 10} s`);
  abandon(draft, call, { notify: true });
}
