// When the model is asked: there is something it has not seen, and nothing that it must wait for. (T1, T3)
import type { Draft } from '../draft.ts';
import { blockingCalls, type QueuedMessage } from '../thread.ts';

/** Ends every decision after which the model may have something to see. */
export function wake(draft: Draft): void {
  if (isBusy(draft)) return;
  acceptMessages(draft, draft.thread.queue);
  if (draft.thread.unseen === 0 || draft.thread.stalled) return;
  const { completionsInWake, limits } = draft.thread;
  if (completionsInWake >= limits.completionsPerWakeMax) {
    draft.emit({
      type: 'BudgetExceeded',
      budget: 'completions_per_wake',
      used: completionsInWake,
      limit: limits.completionsPerWakeMax,
    });
    return;
  }
  requestCompletion(draft);
}

/** A round is over when every call of it is settled or detached; then the model is asked again. */
const isBusy = ({ thread }: Draft): boolean =>
  thread.status !== 'open' || thread.loading !== null || thread.completion !== null || blockingCalls(thread).length > 0;

export function requestCompletion(draft: Draft): void {
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
