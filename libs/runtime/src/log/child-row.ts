// The row of a child thread, as a function of the commit that spawned it: every process writes the same row.
import type { ThreadKey, ThreadRow } from '@dormouse/ports';
import { firstWords, inputIds, type SpawnChild } from '@dormouse/thread';

/** `key` and `at`: where it was spawned, and when. */
export function childRow(
  { key, at }: { readonly key: ThreadKey; readonly at: number },
  { childId, family, opening }: SpawnChild,
): ThreadRow {
  const { agent, userId, message } = opening;
  const words = message === null ? null : firstWords(message.content);
  return {
    ...(words === null ? {} : { firstWords: words }),
    tenant: key.tenant,
    thread: childId,
    status: 'opening',
    agent: agent.name,
    agentVersion: agent.version,
    parent: key.thread,
    family,
    userId,
    externalId: null,
    title: null,
    metadata: {},
    createdAt: at,
    updatedAt: at,
    position: 0,
    opening: { ...opening, id: inputIds.opening(childId) },
  };
}
