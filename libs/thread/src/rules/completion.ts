// The model has answered, or failed for good. An answer counts only while its completion is current. I-14
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { CompletionFailure, CompletionResult, RetryRequest } from '../input.ts';
import { blockingCalls } from '../thread.ts';
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
  for (const call of toolCalls) requestCall(draft, call);
  wake(draft);
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
