// The family of a thread: the root above it. A thread never changes its family, so what was read once is remembered;
// that a thread does not exist is not.
import { ThreadMap } from '@dormouse/collections';
import type { ThreadDirectory, ThreadKey } from '@dormouse/ports';

const rememberedMax = 10_000;

export interface ThreadFamilies {
  /** The root's id; null for a thread that does not exist. @throws Fault */
  rootOf(key: ThreadKey): Promise<string | null>;
}

export function createThreadFamilies({ directory }: { readonly directory: ThreadDirectory }): ThreadFamilies {
  const roots = new ThreadMap<string>();
  return {
    async rootOf(key) {
      const known = roots.get(key);
      if (known !== undefined) return known;
      const row = await directory.get(key);
      if (row === null) return null;
      if (roots.size >= rememberedMax) roots.makeRoom();
      roots.set(key, row.family);
      return row.family;
    },
  };
}
