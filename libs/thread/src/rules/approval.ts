// A person decides before anything is sent: the exact arguments are shown, and the answer is bound to them. A person
// may allow the call with other arguments, which are in the log beside those of the model. R27, R104
//
// Invariants, where several must allow a call:
//   P1. It is sent with the last of the approvals that are needed, each of another credential; one denial ends it.
//   P2. All approvals that count are of the same arguments: other arguments void the earlier approvals.
//   P3. An approval that counts is an event: it is there after a crash, once, in the order of the log.
//   P4. A credential for one answer gives one, whatever becomes of it.
import type { Draft } from '../draft.ts';
import type { Event } from '../event.ts';
import { invisibleCharacters } from '../invisible-characters.ts';
import type { Answer, AssignmentRequest, ChoiceAnswer } from '../input.ts';
import { threadLimits } from '../policy.ts';
import { type Approval, type Call, callOf, type Choice, own } from '../thread.ts';
import { teamOf } from '../tools.ts';
import { dispatch, setTimer, settle } from './call.ts';
import { restartTimeout, settleChoice } from './person.ts';
import { refuseRequest } from './refusal.ts';
import { wake } from './wake.ts';

const choices = ['allow', 'deny', 'allow_for_thread'] as const;

export function requestApproval(draft: Draft, call: Call, argumentsHash: string): void {
  const warnings = invisibleCharacters(call.arguments);
  const expiresAt = draft.moment.now + threadLimits.approvalDeadlineMs;
  const { approvals_needed: approvalsNeeded = 1, assignees = [] } = teamOf(draft.thread, call.operation);
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
    ...(assignees.length === 0 ? {} : { assignees }),
    ...(approvalsNeeded === 1 ? {} : { approvalsNeeded }),
    expiresAt,
  });
  setTimer(draft, call, 'approval_deadline', expiresAt);
}

export function answerChoice(draft: Draft, input: ChoiceAnswer): void {
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
    return restartTimeout(draft, call);
  }
  const current = draft.moment.sha256(JSON.stringify(call.arguments));
  if ([input.edit?.of, input.shown].some((shown) => shown !== undefined && shown !== current))
    return refuseRequest(draft, input, 'CHOICE_CHANGED', 'other arguments were shown than the call has');
  if (isSpent(choice, input)) return refuseRequest(draft, input, 'APPROVAL_COUNTED', 'this link has been used');
  const decision = input.answer.answer === 'decision' ? input.answer.decision : 'deny';
  const reason = input.reason === null ? {} : { reason: input.reason };
  if (decision === 'deny') {
    draft.emit({ type: 'ChoiceSettled', choiceId: input.choiceId, decision, by, ...reason });
    settle(draft, call, 'denied', 'DENIED', denial(by, input.reason));
    return wake(draft);
  }
  const edit = decision === 'allow' ? editOf(draft, input, current) : {};
  const counting = edit.edited === true ? [] : (choice.approvals ?? []); // (P2)
  if (counting.some(({ credential }) => credential === credentialOf(input)))
    return refuseRequest(draft, input, 'APPROVAL_COUNTED', 'an approval of this credential counts already');
  const approval = approvalOf(input, by, decision === 'allow_for_thread');
  const approvals = [...counting, approval];
  if (approvals.length < (choice.approvalsNeeded ?? 1))
    return draft.emit({ type: 'ApprovalCounted', choiceId: input.choiceId, ...factOf(approval), ...reason, ...edit }); // (P3)
  allow(draft, choice, { call, approvals, reason, edit });
  wake(draft);
}

type Edit = Pick<Event<'ChoiceSettled'>, 'edited' | 'argumentsAllowed'>;

/** The last approval that is needed. (P1) */
function allow(
  draft: Draft,
  choice: Choice,
  given: {
    readonly call: Call;
    readonly approvals: readonly Approval[];
    readonly reason: Pick<Event<'ChoiceSettled'>, 'reason'>;
    readonly edit: Edit;
  },
): void {
  const { call, approvals, reason } = given;
  const decision = approvals.every(({ forThread }) => forThread) ? 'allow_for_thread' : 'allow';
  const by = [...new Set(approvals.map((approval) => approval.by))].join(', ');
  const earlier: Edit = choice.editedAt === undefined ? {} : { edited: true, argumentsAllowed: call.arguments };
  draft.emit({ type: 'ChoiceSettled', choiceId: choice.choiceId, decision, by, ...reason, ...earlier, ...given.edit });
  dispatch(draft, callOf(draft.thread, call.toolCallId) ?? call);
}

/** An input of an earlier release names no credential: all of these are one. */
const credentialOf = ({ credential = 'unnamed' }: ChoiceAnswer): string => credential;

const approvalOf = (input: ChoiceAnswer, by: string, forThread: boolean): Approval => ({
  ...{ by, credential: credentialOf(input), once: input.once === true, forThread },
});

const factOf = ({ by, credential, once, forThread }: Approval) => ({
  ...{ by, credential },
  ...(once ? { once: true as const } : {}),
  ...(forThread ? { forThread: true as const } : {}),
});

/** (P4) */
function isSpent({ approvals = [], spent = [] }: Choice, input: ChoiceAnswer): boolean {
  if (input.once !== true) return false;
  const credential = credentialOf(input);
  return spent.includes(credential) || approvals.some((approval) => approval.credential === credential);
}

export function assignChoice(draft: Draft, input: AssignmentRequest): void {
  const { choiceId, assignees, by } = input;
  if (own(draft.thread.choices, choiceId) === undefined)
    return refuseRequest(draft, input, 'CHOICE_SETTLED', 'the choice has been answered, or is not of this thread');
  draft.emit({ type: 'ChoiceAssigned', choiceId, assignees, by });
}

/** Nothing for arguments that are those of the model after all. */
function editOf(draft: Draft, { edit }: ChoiceAnswer, shown: string): Edit {
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
