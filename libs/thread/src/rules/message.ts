// A user message, also one that arrives while the thread is busy: cancel, keep, queue, reject; calls that
// wait for a person have their own policy, because "I have logged in" must not cancel the login.
import type { Draft } from '../draft.ts';
import type { UserMessage } from '../input.ts';
import { type InterruptPolicy, threadLimits } from '../policy.ts';
import { arrivedMessage, blockingCalls, type Thread, waitsForPerson } from '../thread.ts';
import { interruptCall, stopCompletion } from './interruption.ts';
import { acceptMessages, wake } from './wake.ts';

export function takeMessage(draft: Draft, input: UserMessage): void {
  const policies = policiesInForce(draft.thread);
  if (policies.includes('reject'))
    return refuse(draft, input, 'CALLS_PENDING', 'the thread is busy and its agent rejects messages meanwhile');
  if (policies.includes('queue') || draft.thread.migrating !== null) return queue(draft, input);
  interruptForMessage(draft);
  acceptMessages(draft, [input]);
  wake(draft);
}

/** The policies that apply: the machine one for a completion or a sent call, the human one for a call for a person. */
function policiesInForce(thread: Thread): readonly InterruptPolicy[] {
  const calls = blockingCalls(thread);
  return [
    ...(thread.completion !== null || calls.some((call) => !waitsForPerson(call)) ? [thread.policies.onInterrupt] : []),
    ...(calls.some(waitsForPerson) ? [thread.policies.onInterruptHuman] : []),
  ];
}

function interruptForMessage(draft: Draft): void {
  const { onInterrupt, onInterruptHuman } = draft.thread.policies;
  stopCompletion(draft);
  for (const call of blockingCalls(draft.thread)) {
    const policy = waitsForPerson(call) ? onInterruptHuman : onInterrupt;
    if (policy === 'keep') draft.emit({ type: 'ToolCallDetached', toolCallId: call.toolCallId });
    else interruptCall(draft, call);
  }
}

function queue(draft: Draft, input: UserMessage): void {
  if (draft.thread.queue.length >= threadLimits.queuedMessagesMax) {
    return refuse(draft, input, 'QUEUE_FULL', `${threadLimits.queuedMessagesMax} messages are waiting already`);
  }
  draft.emit({ type: 'MessageQueued', ...arrivedMessage(input) });
}

/** Recorded, so that an accepted request never vanishes and is never judged again at another time. (V3) */
export function refuse(draft: Draft, input: UserMessage, code: string, detail: string): void {
  draft.emit({ type: 'MessageRefused', messageId: input.messageId, code, detail });
}
