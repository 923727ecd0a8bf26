// Stopping: what a person has seen stays, each pending call gets its one result, and the tool servers are notified.
import type { Draft } from '../draft.ts';
import { text } from '../content.ts';
import type { CancelCallRequest, InterruptRequest } from '../input.ts';
import { blockingCalls, type Call, callOf, waitsForPerson } from '../thread.ts';
import { abandon, end } from './call.ts';
import { withdrawQuestion } from './person.ts';
import { refuseRequest } from './refusal.ts';
import { wake } from './wake.ts';

const noUsage = { inputTokens: 0, outputTokens: 0 } as const;

/** Ends the running completion; the part that people saw becomes history, in this very commit. R52, I-14 */
export function stopCompletion(draft: Draft): void {
  const { completion } = draft.thread;
  if (completion === null) return;
  const { streamed } = draft.moment;
  const seen = streamed?.completionId === completion.completionId ? streamed : { text: '', reasoning: '' };
  const message = { text: seen.text, ...(seen.reasoning === '' ? {} : { reasoning: seen.reasoning }) };
  draft.emit({
    type: 'CompletionRecorded',
    completionId: completion.completionId,
    message,
    finishReason: 'other',
    usage: noUsage,
    interrupted: true,
    final: false,
  });
}

/** Settles a call that is cut short, and notifies the servers if any of them may have received it. */
export function interruptCall(draft: Draft, call: Call): void {
  withdrawQuestion(draft, call, 'interruption');
  end(draft, call, {
    outcome: 'interrupted',
    content: [text('Interrupted before a result arrived. The tool may or may not have done its work.')],
  });
  abandon(draft, call, { notify: true });
}

/** A client stops the turn: as `on_interrupt: cancel`, whatever the policy. Calls for a person stay unless named. */
export function interruptTurn(draft: Draft, input: InterruptRequest): void {
  const { thread } = draft;
  const calls = blockingCalls(thread).filter((call) => input.includeHuman || !waitsForPerson(call));
  const waitsForTools = thread.loading !== null && thread.unseen > 0;
  if (thread.completion === null && calls.length === 0 && !waitsForTools) {
    return refuseRequest(draft, input, 'NOTHING_TO_STOP', 'nothing was running');
  }
  stopCompletion(draft);
  for (const call of calls) interruptCall(draft, call);
  draft.emit({ type: 'TurnInterrupted', requestId: input.requestId });
  wake(draft); // queued messages begin their turn now
}

export function cancelCall(draft: Draft, input: CancelCallRequest): void {
  const call = callOf(draft.thread, input.toolCallId);
  if (call === undefined) return refuseRequest(draft, input, 'NOTHING_TO_STOP', 'the call is not open');
  interruptCall(draft, call);
  wake(draft);
}
