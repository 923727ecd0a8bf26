// Choices that wait for a person.
import type { Event } from '../event.ts';
import { type Call, callOf, type Choice, own, type Thread, without } from '../thread.ts';
import { changeCall } from './changed-call.ts';
import { withoutTimer } from './timer.ts';

export function settleChoice(thread: Thread, event: Event<'ChoiceSettled'>): Thread {
  const choice = own(thread.choices, event.choiceId);
  if (choice === undefined) return thread;
  const call = callOf(thread, choice.toolCallId);
  const settled = { ...thread, choices: without(thread.choices, event.choiceId) };
  if (call === undefined) return settled;
  const freed = call.personTimerId === null ? settled : withoutTimer(settled, call.personTimerId);
  const allowed = event.decision === 'allow_for_thread' ? [...thread.allowed, allowanceKey(call)] : thread.allowed;
  const resumedAt = thread.updatedAt;
  return {
    ...changeCall(freed, call.toolCallId, (freedCall) => ({
      ...freedCall,
      arguments: event.argumentsAllowed ?? freedCall.arguments,
      waiting: { for: 'result' },
      resumedAt,
    })),
    allowed,
  };
}

export function assignChoice(thread: Thread, { choiceId, assignees }: Event<'ChoiceAssigned'>): Thread {
  return changeChoice(thread, choiceId, (choice) => ({ ...choice, assignees, changedAt: thread.position }));
}

/** Other arguments void the approvals of those that were shown. */
export function countApproval(thread: Thread, event: Event<'ApprovalCounted'>): Thread {
  const { choiceId, by, credential, once = false, forThread = false, argumentsAllowed } = event;
  const { position } = thread;
  const counted = changeChoice(thread, choiceId, (choice) => {
    const { approvals = [], spent = [] } = choice;
    const counts = { by, credential, once, forThread };
    if (argumentsAllowed === undefined) return { ...choice, approvals: [...approvals, counts], changedAt: position };
    const voided = approvals.flatMap((approval) => (approval.once ? [approval.credential] : []));
    return { ...choice, approvals: [counts], spent: [...spent, ...voided], editedAt: position, changedAt: position };
  });
  const choice = own(counted.choices, choiceId);
  if (choice === undefined || argumentsAllowed === undefined) return counted;
  return changeCall(counted, choice.toolCallId, (call) => ({ ...call, arguments: argumentsAllowed }));
}

function changeChoice(thread: Thread, choiceId: string, change: (choice: Choice) => Choice): Thread {
  const choice = own(thread.choices, choiceId);
  return choice === undefined ? thread : { ...thread, choices: { ...thread.choices, [choiceId]: change(choice) } };
}

/** An allowance ends when the tool's manifest changes: its definition may have. */
export const allowanceKey = (tool: Pick<Call, 'toolServer' | 'operation' | 'toolsetSha256'>): string =>
  `${tool.toolServer} ${tool.operation} ${tool.toolsetSha256}`;
