// Lets no more than some in at once. Not here: what they do inside; it must end by itself.
//
// Invariants:
//   T1. Whoever leaves gives his place to the next, in turns between those who have somebody waiting: one of them with a long queue
//       keeps another waiting for one place, not for his queue.
//   T2. A queue has an end: beyond it whoever comes is sent away, with a Fault that says so.
import { Fault } from '@dormouse/ports';

export type Turnstile = <Result>(of: string, work: () => Promise<Result>) => Promise<Result>;

export function createTurnstile(limits: { readonly insideMax: number; readonly waitingMax: number }): Turnstile {
  /** By whose they are, in the order in which they are let in next. */
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
