// The one place that decides. Pure, synchronous, total: it never throws on an input, reads no clock and invents no id.
// Each rule lives in a file of `rules/` named after what happens; this file only finds it.
//
// Invariants:
//   1. What a client sent is always committed, accepted or refused; also in a closed thread. (V3, N2)
//   2. Any other input may be refused without a commit, and only for a reason that no later state can lift.
//   3. The decision depends on thread, input and moment alone; a refusal depends on the thread alone.
import type { Decision } from './decision.ts';
import { Draft } from './draft.ts';
import type { Cause } from './event.ts';
import type { ClientInput, ThreadInput } from './input.ts';
import type { Moment } from './moment.ts';
import { answerChoice } from './rules/approval.ts';
import { closeThread } from './rules/closing.ts';
import { recordCompletion, recordFailure, retry } from './rules/completion.ts';
import { cancelCall, interruptTurn } from './rules/interruption.ts';
import { refuse, takeMessage } from './rules/message.ts';
import { openThread, recordToolsets } from './rules/opening.ts';
import { refuseRequest } from './rules/refusal.ts';
import { takeDispatchFailure, takeRejection, takeResult, takeTimer } from './rules/tool-call.ts';
import type { Thread } from './thread.ts';
import { unreachable } from './unreachable.ts';

export function decide(thread: Thread, input: ThreadInput, moment: Moment): Decision {
  const draft = new Draft(thread, causeOf(input), moment);
  if (thread.status === 'unopened' && input.kind !== 'ThreadOpening') return { committed: false, refusal: 'NOT_OPEN' };
  if (thread.status === 'closed') return decideClosed(draft, input);
  switch (input.kind) {
    case 'ThreadOpening':
      return openThread(draft, input);
    case 'UserMessage':
      return takeMessage(draft, input);
    case 'InterruptRequest':
      return interruptTurn(draft, input);
    case 'RetryRequest':
      return retry(draft, input);
    case 'CloseRequest':
      return closeThread(draft, input);
    case 'CancelCallRequest':
      return cancelCall(draft, input);
    case 'ChoiceAnswer':
      return answerChoice(draft, input);
    case 'ToolsetsResult':
      return recordToolsets(draft, input);
    case 'CompletionResult':
      return recordCompletion(draft, input);
    case 'CompletionFailure':
      return recordFailure(draft, input);
    case 'ToolResult':
      return takeResult(draft, input);
    case 'DispatchFailure':
      return takeDispatchFailure(draft, input);
    case 'CallbackRejection':
      return takeRejection(draft, input);
    case 'TimerFiring':
      return takeTimer(draft, input);
    default:
      return unreachable(input);
  }
}

function decideClosed(draft: Draft, input: ThreadInput): Decision {
  if (input.kind === 'UserMessage') return refuse(draft, input, 'THREAD_CLOSED', 'the thread is closed');
  if (isRequest(input)) return refuseRequest(draft, input, 'THREAD_CLOSED', 'the thread is closed');
  return { committed: false, refusal: input.kind === 'ThreadOpening' ? 'ALREADY_OPEN' : 'CLOSED' };
}

const isRequest = (input: ThreadInput): input is Exclude<ClientInput, { readonly kind: 'UserMessage' }> =>
  'requestId' in input;

/** Under which name the input's events say why they happened. */
export function causeOf(input: ThreadInput): Cause {
  switch (input.kind) {
    case 'ThreadOpening':
      return { kind: 'request', id: input.id };
    case 'UserMessage':
      return { kind: 'message', id: input.messageId };
    case 'InterruptRequest':
    case 'RetryRequest':
    case 'CloseRequest':
    case 'CancelCallRequest':
      return { kind: 'request', id: input.requestId };
    case 'ChoiceAnswer':
      return { kind: 'choice', id: input.requestId };
    case 'ToolsetsResult':
      return { kind: 'toolset', id: input.loadId };
    case 'CompletionResult':
    case 'CompletionFailure':
      return { kind: 'completion', id: input.completionId };
    case 'ToolResult':
    case 'CallbackRejection':
      return { kind: 'result', id: input.toolCallId };
    case 'DispatchFailure':
      return { kind: 'dispatch', id: input.toolCallId };
    case 'TimerFiring':
      return { kind: 'timer', id: input.timerId };
    default:
      return unreachable(input);
  }
}
