// What the prompt of a child or a fork begins with: the transcript of another thread up to where it was spawned or forked, and
// so on. Read from the logs, never copied; it never changes, so it is remembered. (M6)
import type { ThreadKey } from '@dormouse/ports';
import { emptyTail, inherit, type ModelMessage, type ThreadPosition } from '@dormouse/thread';
import { openCommit } from '../../envelope.ts';
import { commitsFrom } from '../thread-state.ts';
import type { PromptSources } from './prompt.ts';

/** @throws Fault when a log cannot be read: an unknown history is never an empty one. R54 */
export async function inheritedMessages(
  sources: PromptSources,
  tenant: string,
  { threadId, position }: ThreadPosition,
  by: 'child' | 'fork',
): Promise<readonly ModelMessage[]> {
  const key: ThreadKey = { tenant, thread: threadId };
  const messages: ModelMessage[] = [];
  let tail = emptyTail;
  let left = position;
  for await (const commit of commitsFrom(sources, key, 0)) {
    for (const event of openCommit(commit).events) {
      if (left === 0) break;
      left -= 1;
      if (event.type === 'ThreadOpened' && event.parent !== undefined)
        messages.push(...(await inheritedMessages(sources, tenant, event.parent, 'child')));
      if (event.type === 'ThreadForked')
        messages.push(...(await inheritedMessages(sources, tenant, event.from, 'fork')));
      const step = sources.folds.extendTranscript(tail, event);
      tail = step.tail;
      messages.push(...step.messages);
    }
    if (left === 0) break;
  }
  return [...messages, ...inherit(tail, by)];
}
