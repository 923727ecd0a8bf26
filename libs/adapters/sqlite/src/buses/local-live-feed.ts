// Hints inside one process. Port: ports/bus/live-feed.ts. A lost hint costs time, never correctness.
//
// Invariants:
//   H1. A listener that throws harms no other listener.
//   H2. The deltas of the running completion are kept for late clients, at most `soFarCharactersMax` per thread and
//       `threadsMax` threads; they are dropped when a commit shows that the completion is over, or another one begins.
//       So is what the completion waits for, which a delta of a later attempt drops, too.
import { ThreadMap } from '@dormouse/collections';
import { type Delta, type Hint, type LiveFeed, type Retrying, type ThreadKey } from '@dormouse/ports';

export interface LiveFeedOptions {
  readonly soFarCharactersMax: number;
  readonly threadsMax: number;
}

type Committed = Extract<Hint, { readonly hint: 'committed' }>;

interface Said {
  readonly completionId: string;
  readonly attempt: number;
  characters: number;
  deltas: Delta[];
}

export function createLocalLiveFeed(options: LiveFeedOptions): LiveFeed {
  const listeners = new ThreadMap<Set<(hint: Hint) => void>>();
  const said = new ThreadMap<Said>();
  const retrying = new ThreadMap<Retrying>();

  function keep(key: ThreadKey, delta: Delta): void {
    const now = said.get(key);
    const same = now?.completionId === delta.completionId && now.attempt === delta.attempt;
    // A late delta of an attempt that was replaced is ignored.
    if (now?.completionId === delta.completionId && now.attempt > delta.attempt) return;
    const running: Said = same
      ? now
      : { completionId: delta.completionId, attempt: delta.attempt, characters: 0, deltas: [] };
    if (running.characters + delta.text.length > options.soFarCharactersMax) return;
    running.characters += delta.text.length;
    append(running.deltas, delta);
    if (same) return;
    retrying.delete(key);
    said.setWithin(options.threadsMax, key, running);
  }

  function wait(key: ThreadKey, until: Retrying): void {
    retrying.setWithin(options.threadsMax, key, until);
  }

  /** (H2) */
  function commit(key: ThreadKey, hint: Committed): void {
    if (endsCompletion(said.get(key), hint)) said.delete(key);
    if (endsCompletion(retrying.get(key), hint)) retrying.delete(key);
  }

  /** (H1) A listener that throws gets nothing more: its client reads the log again, as after any lost hint. */
  function notify(key: ThreadKey, listener: (hint: Hint) => void, hint: Hint): void {
    try {
      listener(hint);
    } catch {
      listeners.get(key)?.delete(listener);
    }
  }

  return {
    publish: (key, hint) => {
      if (hint.hint === 'delta') keep(key, hint.delta);
      else if (hint.hint === 'retrying') wait(key, hint.retrying);
      else if (hint.hint === 'committed') commit(key, hint);
      for (const listener of listeners.get(key) ?? []) notify(key, listener, hint);
    },
    subscribe: async (key, listener) => {
      const ours = listeners.get(key) ?? new Set();
      listeners.set(key, ours.add(listener));
      return () => {
        ours.delete(listener);
        if (ours.size === 0 && listeners.get(key) === ours) listeners.delete(key);
      };
    },
    soFar: async (key) => [...(said.get(key)?.deltas ?? [])],
    retrying: async (key) => retrying.get(key) ?? null,
  };
}

/** Consecutive pieces of one text are kept as one. */
function append(deltas: Delta[], delta: Delta): void {
  const last = deltas.at(-1);
  if (
    last &&
    last.kind === delta.kind &&
    last.index === delta.index &&
    last.offset + last.text.length === delta.offset
  ) {
    deltas[deltas.length - 1] = { ...last, text: last.text + delta.text };
  } else deltas.push(delta);
}

/** As `JSON.stringify` writes them; inside a string their quotes would be escaped. */
const endings = ['"type":"CompletionRecorded"', '"type":"CompletionFailed"', '"type":"CompletionRequested"'];

/** (H2) Only while deltas are kept; the body is searched only if the hint does not carry the state after the commit. */
function endsCompletion(running: Said | Retrying | undefined, { commit, after }: Committed): boolean {
  if (running === undefined) return false;
  if (after !== undefined) return after.thread.completion?.completionId !== running.completionId;
  return endings.some((ending) => commit.body.includes(ending));
}
