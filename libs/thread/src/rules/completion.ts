// The model has answered, or failed for good. An answer counts only while its completion is current. I-14
import type { StableRefusal } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { CompletionFailure, CompletionResult, RetryRequest } from '../input.ts';
import { text } from '../content.ts';
import { threadLimits } from '../policy.ts';
import { setThreadTimer } from './call.ts';
import { endThread } from './closing.ts';
import { refuseRequest } from './refusal.ts';
import { requestCall } from './tool-call.ts';
import { askModel, isBusy, wake } from './wake.ts';

const isCurrent = (draft: Draft, completionId: string): boolean =>
  draft.thread.completion?.completionId === completionId;

export function recordCompletion(draft: Draft, input: CompletionResult): StableRefusal | void {
  if (!isCurrent(draft, input.completionId)) return 'SUPERSEDED';
  const { completionId, finishReason, usage, toolCalls } = input;
  if (toolCalls.length > threadLimits.callsPerAnswerMax) return fail(draft, completionId, tooManyCalls);
  const message = { text: input.text, ...(input.reasoning === null ? {} : { reasoning: input.reasoning }) };
  const final = toolCalls.length === 0;
  draft.emit({ type: 'CompletionRecorded', completionId, message, finishReason, usage, interrupted: false, final });
  const wishes = toolCalls.flatMap((call) => requestCall(draft, call) ?? []);
  // A close wins over a sleep: a thread that closes does not sleep.
  const closing = wishes.find((wish) => wish.wish === 'close');
  if (closing?.wish === 'close') {
    const report = closing.report ?? input.text.slice(0, threadLimits.familyCharactersMax);
    return endThread(draft, completionId, [text(report)]);
  }
  const sleeps = wishes.flatMap((wish) => (wish.wish === 'sleep' ? [wish.until] : []));
  if (sleeps.length > 0) setThreadTimer(draft, 'sleep', Math.ceil(Math.min(...sleeps))); // the earliest one wakes it
  wake(draft);
}

/** The input is kept: the next message or a retry goes on. R55 */
export function recordFailure(draft: Draft, input: CompletionFailure): StableRefusal | void {
  if (!isCurrent(draft, input.completionId)) return 'SUPERSEDED';
  return fail(draft, input.completionId, input);
}

type Failed = Pick<CompletionFailure, 'code' | 'detail' | 'retryable'>;

const tooManyCalls: Failed = {
  code: 'TOO_MANY_CALLS',
  detail: `the model asked for more than ${threadLimits.callsPerAnswerMax} calls at once`,
  retryable: false,
};

function fail(draft: Draft, completionId: string, { code, detail, retryable }: Failed): void {
  draft.emit({ type: 'CompletionFailed', completionId, code, detail, retryable });
  wake(draft);
}

export function retry(draft: Draft, input: RetryRequest): void {
  const { stalled } = draft.thread;
  if (!stalled || isBusy(draft)) {
    const why = stalled ? 'something is running: it goes on by itself' : 'the last completion did not fail';
    return refuseRequest(draft, input, 'NOTHING_TO_RETRY', why);
  }
  askModel(draft, { byHand: true });
}
