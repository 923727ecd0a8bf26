// Inputs on their way to their decision: who waits for each, how long, and how many there may be. (Q1, Q4, Q5 of the local bus)
import type { BusInput, ThreadKey } from '@dormouse/ports';
import { unavailable } from './fault-of.ts';

export interface UndecidedInput extends ThreadKey {
  readonly input: BusInput;
  readonly trace: string | null;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** Its publisher was refused. */
  readonly isWithdrawn: boolean;
  /** Its publisher is answered. */
  decided(): void;
}

export interface UndecidedInputs {
  /** @throws Fault UNAVAILABLE above the bounds. `done` settles when the input is decided or refused. */
  add(
    key: ThreadKey,
    input: BusInput,
    trace: string | null,
  ): { readonly undecided: UndecidedInput; readonly done: Promise<void> };
  /** In order of arrival. */
  all(): Iterable<UndecidedInput>;
  /** Refuses those that wait since before `since`; answers how many there were. */
  refuseOld(since: number, why: Error): number;
  refuseAll(why: Error): void;
  readonly size: number;
}

export function createUndecidedInputs(limits: {
  readonly max: number;
  readonly perThreadMax: number;
}): UndecidedInputs {
  const waiting = new Map<UndecidedInput, (why: Error) => void>();
  const ofThread = new Map<string, number>();

  function change(name: string, by: 1 | -1): void {
    const count = (ofThread.get(name) ?? 0) + by;
    if (count === 0) ofThread.delete(name);
    else ofThread.set(name, count);
  }

  return {
    add: ({ tenant, thread }, input, trace) => {
      const name = `${tenant} ${thread}`;
      if (waiting.size >= limits.max) throw unavailable('Too many inputs are waiting.');
      if ((ofThread.get(name) ?? 0) >= limits.perThreadMax)
        throw unavailable('Too many inputs of this thread are waiting.');
      const { promise: done, resolve, reject } = Promise.withResolvers<void>();
      const leave = (settle: () => void): void => {
        if (!waiting.delete(undecided)) return;
        change(name, -1);
        settle();
      };
      const decided = (): void => leave(resolve);
      const undecided = { tenant, thread, input, trace, since: performance.now(), isWithdrawn: false, decided };
      waiting.set(undecided, (why) => {
        undecided.isWithdrawn = true;
        leave(() => reject(why));
      });
      change(name, 1);
      return { undecided, done };
    },
    all: () => waiting.keys(),
    refuseOld: (since, why) => {
      let count = 0;
      for (const [undecided, refuse] of waiting) {
        if (undecided.since >= since) break; // in order of arrival
        refuse(why);
        count += 1;
      }
      return count;
    },
    get size() {
      return waiting.size;
    },
    refuseAll: (why) => {
      for (const refuse of waiting.values()) refuse(why);
    },
  };
}
