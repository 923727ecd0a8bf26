// What a thread never changes: the root above it, and its agent. So what was read once is remembered; that a thread
// does not exist is not.
import { ThreadMap } from '@dormouse/collections';
import type { Stores, ThreadKey, ThreadRow } from '@dormouse/ports';

const rememberedMax = 10_000;

export interface ThreadFamilies {
  /** The root's id; null for a thread that does not exist. @throws Fault */
  rootOf(key: ThreadKey): Promise<string | null>;
  /** The agent's name; null for a thread that does not exist. @throws Fault */
  agentOf(key: ThreadKey): Promise<string | null>;
}

export function createThreadFamilies({ directory }: Pick<Stores, 'directory'>): ThreadFamilies {
  const remembered = new ThreadMap<Pick<ThreadRow, 'family' | 'agent'>>();

  async function fixedOf(key: ThreadKey): Promise<Pick<ThreadRow, 'family' | 'agent'> | null> {
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const row = await directory.get(key);
    if (row === null) return null;
    const fixed = { family: row.family, agent: row.agent };
    remembered.setWithin(rememberedMax, key, fixed);
    return fixed;
  }

  return {
    rootOf: async (key) => (await fixedOf(key))?.family ?? null,
    agentOf: async (key) => (await fixedOf(key))?.agent ?? null,
  };
}
