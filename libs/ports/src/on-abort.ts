// Who ends with a signal that many others end with, too.
//
// Invariant:
//   O1. One listener per signal, however many wait: a signal walks through all of its listeners for each that comes or goes.
//       It stays for as long as its signal: this is for signals that live as long as their process, not for composed ones.
import { TransientSet } from './transient-map.ts';

const waiting = new WeakMap<AbortSignal, TransientSet<() => void>>();

/**
 * Calls `end`, which must not throw, when the signal aborts, unless what is returned was called before. A signal that has
 * aborted already calls nobody.
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
