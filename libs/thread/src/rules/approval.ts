// A person decides before anything is sent: the exact arguments are shown, and the answer is bound to them. R27, R104
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { ChoiceAnswer, RequestedCall } from '../input.ts';
import { threadLimits } from '../policy.ts';
import type { Call } from '../thread.ts';
import { dispatch, setTimer, settle } from './call.ts';
import { refuseRequest } from './refusal.ts';
import { wake } from './wake.ts';

const choices = ['allow', 'deny', 'allow_for_thread'] as const;

export function requestApproval(draft: Draft, call: Call, requested: RequestedCall, argumentsHash: string): void {
  const expiresAt = draft.moment.now + threadLimits.approvalDeadlineMs;
  draft.emit({
    type: 'ChoiceRequested',
    choiceId: draft.mint('chc'),
    kind: 'approval',
    toolCallId: call.toolCallId,
    prompt: `Allow ${call.operation} of ${call.toolServer}?`,
    choices,
    default: choices.indexOf('deny'),
    arguments: requested.arguments,
    argumentsHash,
    providerCallId: requested.providerCallId,
    expiresAt,
  });
  setTimer(draft, call, 'approval_deadline', expiresAt);
}

export function answerChoice(draft: Draft, input: ChoiceAnswer): Decision {
  const choice = draft.thread.choices[input.choiceId];
  const call = choice === undefined ? undefined : draft.thread.calls[choice.toolCallId];
  if (call === undefined || call.waiting.for !== 'approval') {
    return refuseRequest(draft, input, 'CHOICE_SETTLED', 'the choice has been answered, or is not of this thread');
  }
  const { waiting } = call;
  const by = input.decidedBy ?? 'client';
  const reason = input.reason === null ? {} : { reason: input.reason };
  draft.emit({ type: 'ChoiceSettled', choiceId: input.choiceId, decision: input.decision, by, ...reason });
  if (input.decision === 'deny') settle(draft, call, 'denied', 'DENIED', denial(by, input.reason));
  else dispatch(draft, call, waiting);
  wake(draft);
  return draft.decided();
}

const denial = (by: string, reason: string | null): string =>
  `this call was denied by ${by}${reason === null ? '' : `: ${reason}`}`;

/** Nobody answered in time: the default, which is to deny. */
export function expireApproval(draft: Draft, call: Call): void {
  if (call.waiting.for === 'approval') {
    draft.emit({ type: 'ChoiceSettled', choiceId: call.waiting.choiceId, decision: 'expired', by: 'deadline' });
  }
  settle(draft, call, 'denied', 'DENIED', 'nobody allowed this call in time');
}
