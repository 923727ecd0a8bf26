// Closing ends everything that is open; afterwards only refusals are recorded. (V9, T4)
import type { Decision } from '../decision.ts';
import type { Draft } from '../draft.ts';
import { text } from '../content.ts';
import type { CloseRequest } from '../input.ts';
import { openCalls } from '../thread.ts';
import { abandon } from './call.ts';
import { stopCompletion, withdrawChoice } from './interruption.ts';

export function closeThread(draft: Draft, input: CloseRequest): Decision {
  stopCompletion(draft);
  for (const call of openCalls(draft.thread)) {
    withdrawChoice(draft, call, 'closing');
    draft.emit({
      type: 'ToolCallSettled',
      toolCallId: call.toolCallId,
      outcome: 'interrupted',
      content: [text('The thread was closed.')],
    });
    abandon(draft, call, { notify: false }); // the closure notice tells the servers
  }
  for (const { messageId } of draft.thread.queue) {
    draft.emit({
      type: 'MessageRefused',
      messageId,
      code: 'THREAD_CLOSED',
      detail: 'the thread was closed before the message had its turn',
    });
  }
  draft.emit({ type: 'ThreadClosed', by: input.requestId });
  const { toolServers, id } = draft.thread;
  if (toolServers.length > 0) draft.owe({ do: 'SendCloseNotices', id: `close:${id}`, toolServers });
  return draft.decided();
}
