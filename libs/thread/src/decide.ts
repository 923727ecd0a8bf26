// The one place that decides. Pure, synchronous, total: it never throws on an input, reads no clock and invents no id.
// Each rule is in a file of `rules/` named after what happens; this file only selects it.
//
// Invariants:
//   1. A client's input is always committed, accepted or refused; also in a closed thread. (V3, input N2)
//   2. Any other input may be refused without a commit, and only for a reason that no later state can lift.
//   3. The decision depends on thread, input and moment alone; a refusal depends on the thread alone.
import type { Decision, StableRefusal } from './decision.ts';
import { Draft } from './draft.ts';
import type { Cause } from './event.ts';
import type { ClientInput, ThreadInput } from './input.ts';
import type { Moment } from './moment.ts';
import { answerChoice, assignChoice } from './rules/approval.ts';
import { closeThread, endRetention, closeWhenDone } from './rules/closing.ts';
import { takeExternalEvent, takeParentMessage, takeReport } from './rules/child.ts';
import { recordCompletion, recordFailure, retry } from './rules/completion.ts';
import { eraseContent } from './rules/erasure.ts';
import { cancelCall, interruptTurn } from './rules/interruption.ts';
import { refuse, takeMessage } from './rules/message.ts';
import { endMigration, startMigration } from './rules/migration.ts';
import { openThread, recordToolsets, refreshToolsets } from './rules/opening.ts';
import { takeAnswerFailure, takeLogin, takeUserChoice } from './rules/person.ts';
import { refuseRequest } from './rules/refusal.ts';
import { removeSchedule, setSchedule } from './rules/schedule.ts';
import { requestCancelSubscription, takeEvent } from './rules/subscription.ts';
import { takeDispatchFailure, takeRejection, takeResult, takeTimer } from './rules/tool-call.ts';
import type { Thread } from './thread.ts';
import { unknownKind } from './unreachable.ts';

export function decide(thread: Thread, input: ThreadInput, moment: Moment): Decision {
  const draft = new Draft(thread, causeOf(input), moment);
  const refusal = decideByKind(draft, input);
  if (refusal !== undefined) return { committed: false, refusal };
  closeWhenDone(draft); // a child may have waited for this only
  return draft.decided();
}

/** Records what follows from the input, or returns why nothing does. Rules that return `void` never refuse. (1, 2) */
function decideByKind(draft: Draft, input: ThreadInput): StableRefusal | void {
  const { thread } = draft;
  if (thread.status === 'unopened' && input.kind !== 'ThreadOpening') return 'NOT_OPEN';
  if (input.kind === 'ContentErasure') return eraseContent(draft, input);
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
    case 'RetentionEnd':
      return endRetention(draft, input);
    case 'CancelCallRequest':
      return cancelCall(draft, input);
    case 'CancelSubscriptionRequest':
      return requestCancelSubscription(draft, input);
    case 'RefreshToolsetsRequest':
      return refreshToolsets(draft, input);
    case 'MigrationRequest':
      return startMigration(draft, input);
    case 'MigrationResult':
      return endMigration(draft, input);
    case 'ScheduleRequest':
      return setSchedule(draft, input);
    case 'UnscheduleRequest':
      return removeSchedule(draft, input);
    case 'ExternalEvent':
      return takeExternalEvent(draft, input);
    case 'AssignmentRequest':
      return assignChoice(draft, input);
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
    case 'SubscriptionEvent':
      return takeEvent(draft, input);
    case 'LoginPrompt':
      return takeLogin(draft, input);
    case 'ChoicePrompt':
      return takeUserChoice(draft, input);
    case 'ChoiceAnswerFailure':
      return takeAnswerFailure(draft, input);
    case 'ChildReport':
      return takeReport(draft, input);
    case 'ParentMessage':
      return takeParentMessage(draft, input);
    case 'DispatchFailure':
      return takeDispatchFailure(draft, input);
    case 'CallbackRejection':
      return takeRejection(draft, input);
    case 'TimerFiring':
      return takeTimer(draft, input);
    default:
      return unknownKind('input', (input as { readonly kind: never }).kind);
  }
}

function decideClosed(draft: Draft, input: ThreadInput): StableRefusal | void {
  if (input.kind === 'UserMessage') return refuse(draft, input, 'THREAD_CLOSED', 'the thread is closed');
  if (isRequest(input)) return refuseRequest(draft, input, 'THREAD_CLOSED', 'the thread is closed');
  return input.kind === 'ThreadOpening' ? 'ALREADY_OPEN' : 'CLOSED';
}

const isRequest = (input: ThreadInput): input is Exclude<ClientInput, { readonly kind: 'UserMessage' }> =>
  'requestId' in input;

/** The cause that the input's events name. */
export function causeOf(input: ThreadInput): Cause {
  switch (input.kind) {
    case 'ThreadOpening':
      return input.child === undefined ? { kind: 'request', id: input.id } : { kind: 'parent', id: input.id };
    case 'UserMessage':
      return { kind: 'message', id: input.messageId };
    case 'InterruptRequest':
    case 'RetryRequest':
    case 'CloseRequest':
    case 'CancelCallRequest':
    case 'CancelSubscriptionRequest':
    case 'RefreshToolsetsRequest':
    case 'MigrationRequest':
    case 'ScheduleRequest':
    case 'UnscheduleRequest':
    case 'AssignmentRequest':
      return { kind: 'request', id: input.requestId };
    case 'ExternalEvent':
      return { kind: 'event', id: input.requestId };
    case 'ChoiceAnswer':
      return { kind: 'choice', id: input.requestId };
    case 'ToolsetsResult':
      return { kind: 'toolset', id: input.loadId };
    case 'MigrationResult':
      return { kind: 'operator', id: input.migrationId };
    case 'RetentionEnd':
      return { kind: 'operator', id: input.id };
    case 'CompletionResult':
    case 'CompletionFailure':
      return { kind: 'completion', id: input.completionId };
    case 'SubscriptionEvent':
      return { kind: 'event', id: input.id };
    case 'LoginPrompt':
      return { kind: 'oauth', id: input.toolCallId };
    case 'ChoicePrompt':
    case 'ChoiceAnswerFailure':
      return { kind: 'choice', id: input.toolCallId };
    case 'ChildReport':
      return { kind: 'child', id: input.id };
    case 'ParentMessage':
      return { kind: 'parent', id: input.id };
    case 'ToolResult':
    case 'CallbackRejection':
      return { kind: 'result', id: input.toolCallId };
    case 'DispatchFailure':
      return { kind: 'dispatch', id: input.toolCallId };
    case 'ContentErasure':
      return { kind: 'operator', id: input.certificate };
    case 'TimerFiring':
      return { kind: 'timer', id: input.timerId };
    default:
      return unknownKind('input', (input as { readonly kind: never }).kind);
  }
}
