// A person decides before anything is sent: the exact arguments are shown, and the answer is bound to them. A person
// may allow the call with other arguments, which are in the log beside those of the model. R27, R104
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import type { Event } from '../event.ts';
import { invisibleCharacters } from '../invisible-characters.ts';
import type { Answer, ChoiceAnswer } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { type Call, callOf, type Choice, own } from '../thread.ts';
import { dispatch, setTimer, settle } from './call.ts';
import { restartTimeout, settleChoice } from './person.ts';
import { refuseRequest } from './refusal.ts';
import { wake } from './wake.ts';

const choices = ['allow', 'deny', 'allow_for_thread'] as const;

export function requestApproval(draft: Draft, call: Call, argumentsHash: string): void {
  const warnings = invisibleCharacters(call.arguments);
  const expiresAt = draft.moment.now + threadLimits.approvalDeadlineMs;
  draft.emit({
    type: 'ChoiceRequested',
    choiceId: draft.mint('chc'),
    kind: 'approval',
    toolCallId: call.toolCallId,
    prompt: `Allow ${call.operation} of ${call.toolServer}?`,
    choices,
    default: choices.indexOf('deny'),
    arguments: call.arguments,
    argumentsHash,
    ...(warnings.length === 0 ? {} : { warnings }),
    expiresAt,
  });
  setTimer(draft, call, 'approval_deadline', expiresAt);
}

export function answerChoice(draft: Draft, input: ChoiceAnswer): Decision {
  const choice = own(draft.thread.choices, input.choiceId);
  const call = choice === undefined ? undefined : callOf(draft.thread, choice.toolCallId);
  if (choice === undefined || call === undefined) {
    return refuseRequest(draft, input, 'CHOICE_SETTLED', 'the choice has been answered, or is not of this thread');
  }
  const problem = mismatch(choice, input.answer);
  if (problem !== null) return refuseRequest(draft, input, 'INVALID_BODY', problem);
  const by = input.decidedBy ?? 'client';
  if (choice.kind === 'tool') {
    const selected = input.answer.answer === 'selected' ? input.answer.selected : choice.default;
    settleChoice(draft, choice, selected, by, input.reason);
    restartTimeout(draft, call);
    return draft.decided();
  }
  const shown = draft.moment.sha256(JSON.stringify(call.arguments));
  if (input.edit !== undefined && input.edit.of !== shown)
    return refuseRequest(draft, input, 'CHOICE_CHANGED', 'other arguments were shown than the call has');
  const decision = input.answer.answer === 'decision' ? input.answer.decision : 'deny';
  const reason = input.reason === null ? {} : { reason: input.reason };
  const edit = decision === 'allow' ? editOf(draft, input, shown) : {};
  draft.emit({ type: 'ChoiceSettled', choiceId: input.choiceId, decision, by, ...reason, ...edit });
  if (decision === 'deny') settle(draft, call, 'denied', 'DENIED', denial(by, input.reason));
  else dispatch(draft, callOf(draft.thread, call.toolCallId) ?? call);
  wake(draft);
  return draft.decided();
}

/** Nothing for arguments that are those of the model after all. */
function editOf(
  draft: Draft,
  { edit }: ChoiceAnswer,
  shown: string,
): Pick<Event<'ChoiceSettled'>, 'edited' | 'argumentsAllowed'> {
  if (edit === undefined || draft.moment.sha256(JSON.stringify(edit.arguments)) === shown) return {};
  return { edited: true, argumentsAllowed: edit.arguments };
}

/** Why this answer does not fit this choice, or null. */
export function mismatch(choice: Pick<Choice, 'kind' | 'choices'>, answer: Answer): string | null {
  if (answer.answer === 'dismiss') return null;
  if (choice.kind === 'approval')
    return answer.answer === 'decision' ? null : 'an approval is answered with a decision, not with an index';
  if (answer.answer !== 'selected') return 'this choice is answered with the index of one of its choices';
  const { selected } = answer;
  return Number.isInteger(selected) && selected >= 0 && selected < choice.choices
    ? null
    : `selected must be from 0 to ${choice.choices - 1}`;
}

const denial = (by: string, reason: string | null): string =>
  `this call was denied by ${by}${reason === null ? '' : `: ${reason}`}`;

/** No answer in time: the default, which is to deny. */
export function expireApproval(draft: Draft, call: Call): void {
  if (call.waiting.for === 'approval') {
    draft.emit({ type: 'ChoiceSettled', choiceId: call.waiting.choiceId, decision: 'expired', by: 'deadline' });
  }
  settle(draft, call, 'denied', 'DENIED', 'nobody allowed this call in time');
}
