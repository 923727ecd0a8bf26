// Choices that wait for a person.
import type { Event } from '../event.ts';
import { type Call, callOf, own, type Thread } from '../thread.ts';
import { changeCall } from './changed-call.ts';
import { withoutTimer } from './timer.ts';

export function settleChoice(thread: Thread, event: Event<'ChoiceSettled'>): Thread {
  const choice = own(thread.choices, event.choiceId);
  if (choice === undefined) return thread;
  const call = callOf(thread, choice.toolCallId);
  const { [event.choiceId]: _settled, ...choices } = thread.choices;
  const settled = { ...thread, choices };
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

/** An allowance ends when the tool's manifest changes: its definition may have. */
export const allowanceKey = (tool: Pick<Call, 'toolServer' | 'operation' | 'toolsetSha256'>): string =>
  `${tool.toolServer} ${tool.operation} ${tool.toolsetSha256}`;
