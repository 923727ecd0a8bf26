// Closing ends everything that is open; afterwards only refusals are recorded. (V9, thread T4)
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import { type Content, text } from '../content.ts';
import type { CloseRequest, RetentionEnd } from '../input.ts';
import { mayWake, type Thread } from '../thread.ts';
import { abandon, end, notifyCancel } from './call.ts';
import { reportToParent } from './child.ts';
import { stopCompletion } from './interruption.ts';
import { withdrawQuestion } from './person.ts';

export function closeThread(draft: Draft, input: CloseRequest): void {
  endThread(draft, input.requestId, [text('The thread was closed before it reported.')]);
}

/**
 * A thread that has gone on since, or has anything open, stays: both hold for every later state, which is younger. Its
 * parent gets no report, which would wake it: the family goes as a whole.
 */
export function endRetention(draft: Draft, { restingSince }: RetentionEnd): StableRefusal | void {
  if (!restsSince(draft.thread, restingSince)) return 'NOT_AT_REST';
  endThread(draft, 'retention', null);
}

/** No event since this time, milliseconds since the epoch, and nothing open. */
export const restsSince = (thread: Thread, since: number): boolean => thread.updatedAt < since && !hasOpen(thread);

const hasOpen = (thread: Thread): boolean =>
  [thread.completion, thread.loading, thread.migrating].some((one) => one !== null) ||
  [thread.calls, thread.held, thread.queuedEvents, thread.queue].some((list) => list.length > 0) ||
  [thread.timers, thread.subscriptions, thread.schedules].some((named) => Object.keys(named).length > 0);

/** An event's child that waits for nothing any more is done, whatever its result. */
export function closeWhenDone(draft: Draft): void {
  const { status, spawnedBy, policies, stalled, lastError, lastAnswer } = draft.thread;
  if (status !== 'open' || spawnedBy?.kind !== 'event' || policies.eventChildren !== 'close_when_idle') return;
  const lastWords = stalled ? `Error: the thread failed: ${lastError?.detail ?? 'unknown'}` : lastAnswer;
  if (lastWords !== null && !mayWake(draft.thread)) endThread(draft, draft.cause.id, [text(lastWords)]);
}

/** `report` is the final report to the parent, if there is one; null for none. */
export function endThread(draft: Draft, by: string, report: Content | null): void {
  stopCompletion(draft);
  for (const call of draft.thread.calls) {
    withdrawQuestion(draft, call, 'closing');
    end(draft, call, { outcome: 'interrupted', content: [text('The thread was closed.')] });
    abandon(draft, call, { notify: false }); // the closure notice informs the servers
  }
  for (const { messageId } of draft.thread.queue) {
    draft.emit({
      type: 'MessageRefused',
      messageId,
      code: 'THREAD_CLOSED',
      detail: 'the thread was closed before the message had its turn',
    });
  }
  const { toolServers, id, subscriptions, policies } = draft.thread;
  for (const toolCallId of Object.keys(subscriptions)) {
    draft.emit({ type: 'SubscriptionClosed', toolCallId, reason: 'thread_closed' });
    if (policies.cancelSubscriptionsOnClose) notifyCancel(draft, toolCallId); // R80
  }
  draft.emit({ type: 'ThreadClosed', by });
  if (toolServers.length > 0) draft.owe({ do: 'SendCloseNotices', id: `close:${id}`, toolServers });
  if (report !== null) reportToParent(draft, 'closed', report, true);
}
