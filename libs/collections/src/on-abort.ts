// One listener for many waiters of one abort signal.
//
// Invariant:
//   O1. One listener per signal, for any number of waiters: a signal walks through all of its listeners whenever one is
//       added or removed. The listener stays as long as its signal: this is for signals that live as long as their
//       process, not for composed ones.
import { TransientSet } from './transient-map.ts';

const waiting = new WeakMap<AbortSignal, TransientSet<() => void>>();

/**
 * Calls `end`, which must not throw, when the signal aborts, unless the returned function was called before. If the
 * signal has aborted already, `end` is never called.
 */
export function onAbort(signal: AbortSignal, end: () => void): () => void {
  const all = waiting.get(signal) ?? listenTo(signal);
  const ticket = all.add(end);
  return () => void all.delete(ticket);
}

function listenTo(signal: AbortSignal): TransientSet<() => void> {
  const all = new TransientSet<() => void>();
  waiting.set(signal, all);
  const endAll = (): void => {
    for (const end of all.values()) end();
    all.clear();
  };
  signal.addEventListener('abort', endAll, { once: true });
  return all;
}
