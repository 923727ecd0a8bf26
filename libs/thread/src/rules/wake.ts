// When the model is asked: there is something it has not seen, and nothing that it must wait for. (T1, T3)
import type { Draft } from '../draft.ts';
import { blockingCalls, type QueuedMessage, timerOf, tokensOn } from '../thread.ts';
import { setThreadTimer } from './call.ts';

/** Ends every decision after which the model may have something to see. */
export function wake(draft: Draft): void {
  if (isBusy(draft)) return limitTheWait(draft);
  acceptMessages(draft, draft.thread.queue);
  if (draft.thread.unseen <= draft.thread.merged || draft.thread.stalled) return;
  const exceeded = exceededBudget(draft);
  if (exceeded === null) requestCompletion(draft);
  else draft.emit({ type: 'BudgetExceeded', ...exceeded });
}

function exceededBudget({
  thread,
  moment,
}: Draft): { readonly budget: string; readonly used: number; readonly limit: number } | null {
  const { completionsInWake, limits } = thread;
  const { completionsPerWakeMax, tokensPerDayMax } = limits;
  if (completionsInWake >= completionsPerWakeMax)
    return { budget: 'completions_per_wake', used: completionsInWake, limit: completionsPerWakeMax };
  const tokens = tokensOn(thread, moment.now);
  return tokensPerDayMax !== null && tokens >= tokensPerDayMax
    ? { budget: 'tokens_per_day_thread', used: tokens, limit: tokensPerDayMax }
    : null;
}

/** A round is over when every call of it is settled or detached; then the model is asked again. */
const isBusy = ({ thread }: Draft): boolean =>
  thread.status !== 'open' ||
  thread.loading !== null ||
  thread.migrating !== null ||
  thread.completion !== null ||
  blockingCalls(thread).length > 0;

/** What arrived waits for the round, but not for ever: one slow call must never make a thread deaf. design §2 */
function limitTheWait(draft: Draft): void {
  const { arrivals, completion, loading, limits, status } = draft.thread;
  if (arrivals === 0 || completion !== null || loading !== null || status !== 'open') return;
  if (timerOf(draft.thread, 'event_wait') === undefined)
    setThreadTimer(draft, 'event_wait', draft.moment.now + limits.eventWaitMsMax);
}

/** The turn that what happens now belongs to: a new one, named after its input, when the thread was at rest. */
export function beginsTurn({ thread, cause }: Draft): string {
  const isResting = thread.completion === null && blockingCalls(thread).length === 0;
  return isResting || thread.turnId === null ? cause.id : thread.turnId;
}

export function requestCompletion(draft: Draft): void {
  for (const { timerId, reason } of Object.values(draft.thread.timers))
    if (reason === 'sleep') draft.emit({ type: 'TimerCancelled', timerId }); // something else woke the thread
  const completionId = draft.mint('cmp');
  draft.emit({ type: 'CompletionRequested', completionId, model: draft.thread.model });
  draft.owe({ do: 'RequestCompletion', id: completionId, completionId });
}

/** The messages begin one turn together, named after the first of them. */
export function acceptMessages(draft: Draft, messages: readonly QueuedMessage[]): void {
  const turnId = messages[0]?.messageId;
  for (const { messageId, content } of messages) {
    draft.because({ kind: 'message', id: messageId });
    draft.emit({ type: 'MessageAccepted', messageId, content }, turnId);
  }
}
