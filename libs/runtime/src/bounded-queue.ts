// A fair semaphore: at most `insideMax` callers are inside at once. Not here: their work; it must end by itself.
//
// Invariants:
//   T1. A caller that leaves gives its place to the next, in rotation over the owners (`of`) with waiting callers: an
//       owner with a long queue delays another by one place, not by its whole queue.
//   T2. A queue is bounded: a caller beyond the bound is refused, with a Fault that says so.
import { Fault } from '@dormouse/ports';

export type BoundedQueue = <Result>(of: string, work: () => Promise<Result>) => Promise<Result>;

export function createBoundedQueue(limits: { readonly insideMax: number; readonly waitingMax: number }): BoundedQueue {
  /** By owner, in the order in which they are admitted next. */
  const waiting = new Map<string, (() => void)[]>();
  let inside = 0;

  function wait(of: string): Promise<void> {
    const queue = waiting.get(of) ?? [];
    if (queue.length >= limits.waitingMax) throw new Fault('UNAVAILABLE', 'too many are waiting for their turn'); // (T2)
    waiting.set(of, queue);
    return new Promise((resolve) => queue.push(resolve));
  }

  /** (T1) */
  function leave(): void {
    const [first] = waiting;
    if (first === undefined) return void inside--;
    const [of, queue] = first;
    const next = queue.shift();
    waiting.delete(of);
    if (queue.length > 0) waiting.set(of, queue); // behind the others
    next?.();
  }

  return async (of, work) => {
    if (inside < limits.insideMax) inside++;
    else await wait(of);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
