// Hints for people who watch, in memory: a lost hint costs only time, so a hint that the gate drops is lost.
import type { Delta, Hint, LiveFeed, Retrying } from '@dormouse/ports';
import type { Passage } from '../gate.ts';
import { nameOf } from '../log/thread-log.ts';

export interface FeedStore {
  readonly listeners: Map<string, Set<(hint: Hint) => void>>;
  readonly said: Map<string, Delta[]>;
  readonly retrying: Map<string, Retrying>;
}

export function createLiveFeed({ listeners, said, retrying }: FeedStore, passage: Passage): LiveFeed {
  return {
    publish: (key, hint) => {
      const lost = (): undefined => undefined;
      void passage
        .write('feed.publish', nameOf(key), () => {
          remember({ said, retrying }, nameOf(key), hint);
          for (const listener of listeners.get(nameOf(key)) ?? []) listener(hint);
        })
        .catch(lost);
    },
    subscribe: (key, listener) =>
      passage.read('feed.subscribe', nameOf(key), () => {
        const all = listeners.get(nameOf(key)) ?? new Set();
        listeners.set(nameOf(key), all.add(listener));
        return () => void all.delete(listener);
      }),
    soFar: (key) => passage.read('feed.soFar', nameOf(key), () => said.get(nameOf(key)) ?? []),
    retrying: (key) => passage.read('feed.retrying', nameOf(key), () => retrying.get(nameOf(key)) ?? null),
  };
}

/** A new completion or attempt replaces the deltas kept so far; a commit that records a completion drops them. */
function remember({ said, retrying }: Omit<FeedStore, 'listeners'>, name: string, hint: Hint): void {
  if (hint.hint === 'committed') {
    const ended = said.get(name)?.[0];
    if (ended !== undefined && hint.commit.inputs.includes(`m:${ended.completionId}`)) said.delete(name);
    const failing = retrying.get(name);
    if (failing !== undefined && hint.commit.inputs.includes(`m:${failing.completionId}`)) retrying.delete(name);
    return;
  }
  if (hint.hint === 'retrying') return void retrying.set(name, hint.retrying);
  if (hint.hint === 'view' || hint.hint === 'questions') return;
  const before = said.get(name) ?? [];
  const first = before[0];
  const continues = first?.completionId === hint.delta.completionId && first.attempt === hint.delta.attempt;
  if (!continues) retrying.delete(name);
  said.set(name, continues ? [...before, hint.delta] : [hint.delta]);
}
