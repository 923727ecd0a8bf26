// The family of a thread, for those who know the thread alone: what is stored for it is sealed with that family's key.
//
// Invariants:
//   F1. A thread's family never changes, so what was found is remembered; that a thread does not exist is not.
//   F2. The first commit decides: it names its key, or the ancestors of its thread. Before there is one the row
//       decides; a thread without either is about to be made, and roots alone are made without a row.
import { ThreadMap } from '@dormouse/collections';
import type { Commit, ThreadDirectory, ThreadKey, ThreadLog } from '@dormouse/ports';
import { openCommit } from '../log/envelope.ts';

export interface ThreadFamily {
  remembered(key: ThreadKey): string | undefined;
  remember(key: ThreadKey, family: string): void;
  /** @throws Fault */
  of(key: ThreadKey): Promise<string>;
}

const rememberedMax = 50_000;

export function createThreadFamily(stores: {
  readonly log: Pick<ThreadLog, 'at'>;
  readonly directory: Pick<ThreadDirectory, 'get'>;
}): ThreadFamily {
  const known = new ThreadMap<string>();
  const remember = (key: ThreadKey, family: string): void => known.setWithin(rememberedMax, key, family);
  return {
    remembered: (key) => known.get(key),
    remember,
    async of(key) {
      const found = known.get(key);
      if (found !== undefined) return found;
      const first = await stores.log.at(key, 1);
      const family = first === null ? (await stores.directory.get(key))?.family : familyOfFirst(first);
      if (family !== undefined) remember(key, family); // (F1)
      return family ?? key.thread; // (F2)
    },
  };
}

/** Of a thread's first commit, as it is stored, or as it is about to be. (F2) */
export function familyOfFirst(first: Commit): string {
  if (first.kid !== null) return first.kid;
  const [opened] = openCommit(first).events;
  return (opened?.type === 'ThreadOpened' ? opened.ancestors?.[0] : undefined) ?? first.thread;
}
