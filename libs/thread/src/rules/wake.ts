// When the model is asked: there is something it has not seen, and nothing that it must wait for. (thread T1, T3)
import type { Draft } from '../draft.ts';
import type { UsedUp } from '../moment.ts';
import type { ArrivedMessage } from '../input.ts';
import { arrivedMessage, blockingCalls, type Thread, timerOf, tokensOn } from '../thread.ts';
import { setThreadTimer } from './call.ts';

/** Ends every decision after which the model may have something to see. */
export function wake(draft: Draft): void {
  if (isBusy(draft)) return limitTheWait(draft);
  acceptMessages(draft, draft.thread.queue);
  if (draft.thread.unseen > draft.thread.merged && !draft.thread.stalled) askModel(draft);
}

/** Asks, unless a budget is used up. A manual retry grants one more completion, and no more tokens. */
export function askModel(draft: Draft, { byHand = false } = {}): void {
  const exceeded =
    exceededTokens(draft) ?? draft.moment.quota?.spent() ?? (byHand ? null : exceededCompletions(draft.thread));
  if (exceeded === null) requestCompletion(draft);
  else draft.emit({ type: 'BudgetExceeded', ...exceeded });
}

function exceededCompletions({ completionsInWake, limits }: Thread): UsedUp | null {
  const limit = limits.completionsPerWakeMax;
  return completionsInWake < limit ? null : { budget: 'completions_per_wake', used: completionsInWake, limit };
}

function exceededTokens({ thread, moment }: Draft): UsedUp | null {
  const limit = thread.limits.tokensPerDayMax;
  const used = tokensOn(thread, moment.now);
  return limit === null || used < limit ? null : { budget: 'tokens_per_day_thread', used, limit };
}

/** A round is over when every call of it is settled or detached; then the model is asked again. */
export const isBusy = ({ thread }: Draft): boolean =>
  thread.status !== 'open' ||
  thread.loading !== null ||
  thread.migrating !== null ||
  thread.completion !== null ||
  blockingCalls(thread).length > 0;

/** Arrivals wait for the round, but not for ever: one slow call must never block a thread. */
function limitTheWait(draft: Draft): void {
  const { arrivals, limits } = draft.thread;
  if (arrivals === 0 || blockingCalls(draft.thread).length === 0) return;
  if (timerOf(draft.thread, 'event_wait') === undefined)
    setThreadTimer(draft, 'event_wait', draft.moment.now + limits.eventWaitMsMax);
}

/** The turn of what happens now: a new one, named after its input, when the thread was at rest. */
export function beginsTurn({ thread, cause }: Draft): string {
  const isResting = thread.completion === null && blockingCalls(thread).length === 0;
  return isResting || thread.turnId === null ? cause.id : thread.turnId;
}

function requestCompletion(draft: Draft): void {
  for (const { timerId, reason } of Object.values(draft.thread.timers))
    if (reason === 'sleep') draft.emit({ type: 'TimerCancelled', timerId }); // another input woke the thread
  const completionId = draft.mint('cmp');
  draft.emit({ type: 'CompletionRequested', completionId, model: draft.thread.model });
  draft.owe({ do: 'RequestCompletion', id: completionId, completionId });
}

/** The messages begin one turn together, named after the first of them. */
export function acceptMessages(draft: Draft, messages: readonly ArrivedMessage[]): void {
  const turnId = messages[0]?.messageId;
  for (const message of messages) {
    draft.because({ kind: 'message', id: message.messageId });
    draft.emit({ type: 'MessageAccepted', ...arrivedMessage(message) }, turnId);
  }
}
