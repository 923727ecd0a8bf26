// The model has answered, or failed for good. An answer counts only while its completion is current. I-14
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { CompletionFailure, CompletionResult, RetryRequest } from '../input.ts';
import { text } from '../content.ts';
import { blockingCalls } from '../thread.ts';
import { fallAsleep } from './built-in.ts';
import { isDone, lastWords } from './child.ts';
import { endThread } from './closing.ts';
import { refuseRequest } from './refusal.ts';
import { requestCall } from './tool-call.ts';
import { requestCompletion, wake } from './wake.ts';

const isCurrent = (draft: Draft, completionId: string): boolean =>
  draft.thread.completion?.completionId === completionId;

export function recordCompletion(draft: Draft, input: CompletionResult): Decision {
  if (!isCurrent(draft, input.completionId)) return { committed: false, refusal: 'SUPERSEDED' };
  const { completionId, finishReason, usage, toolCalls } = input;
  const message = { text: input.text, ...(input.reasoning === null ? {} : { reasoning: input.reasoning }) };
  const final = toolCalls.length === 0;
  draft.emit({ type: 'CompletionRecorded', completionId, message, finishReason, usage, interrupted: false, final });
  const wishes = toolCalls.flatMap((call) => requestCall(draft, call) ?? []);
  // The last word wins: a thread that closes does not sleep.
  const closing = wishes.find((wish) => wish.wish === 'close');
  if (closing?.wish === 'close') {
    endThread(draft, completionId, [text(closing.report ?? input.text)]);
    return draft.decided();
  }
  for (const wish of wishes) if (wish.wish === 'sleep') fallAsleep(draft, wish.until);
  wake(draft);
  if (isDone(draft)) endThread(draft, completionId, lastWords(draft));
  return draft.decided();
}

/** The input is kept: the next message or a retry goes on. R55 */
export function recordFailure(draft: Draft, input: CompletionFailure): Decision {
  if (!isCurrent(draft, input.completionId)) return { committed: false, refusal: 'SUPERSEDED' };
  const { completionId, code, detail, retryable } = input;
  draft.emit({ type: 'CompletionFailed', completionId, code, detail, retryable });
  wake(draft);
  return draft.decided();
}

export function retry(draft: Draft, input: RetryRequest): Decision {
  const { stalled, completion } = draft.thread;
  if (!stalled || completion !== null || blockingCalls(draft.thread).length > 0) {
    return refuseRequest(draft, input, 'NOTHING_TO_RETRY', 'the last completion did not fail');
  }
  requestCompletion(draft);
  return draft.decided();
}
