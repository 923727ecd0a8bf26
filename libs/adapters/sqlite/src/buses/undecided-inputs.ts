// Inputs that are not decided yet: their publishers, their age, their number. (Q1, Q4, Q5 of the local bus)
import { ThreadMap, TransientSet, atEndOfTick } from '@dormouse/collections';
import { type BusInput, type ThreadKey } from '@dormouse/ports';
import { unavailable } from '../file/fault-of.ts';

export interface UndecidedInput extends ThreadKey {
  readonly input: BusInput;
  readonly trace: string | null;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** True when its publisher was refused. */
  readonly isWithdrawn: boolean;
  /** Answers its publisher at the end of this tick of the event loop. */
  decided(): void;
}

export interface UndecidedInputs {
  /** Why this thread may publish nothing more now: Fault UNAVAILABLE above the bounds. */
  refusal(key: ThreadKey): Error | null;
  /** Call it after `refusal` answered null. `done` settles when the input is decided or refused. */
  add(
    key: ThreadKey,
    input: BusInput,
    trace: string | null,
  ): { readonly undecided: UndecidedInput; readonly done: Promise<void> };
  /** In order of arrival. */
  all(): Iterable<UndecidedInput>;
  /** Refuses the inputs that wait since before `since`; answers how many there were. */
  refuseOld(since: number, why: Error): number;
  refuseAll(why: Error): void;
  readonly size: number;
}

interface Waiting {
  readonly undecided: UndecidedInput;
  readonly refuse: (why: Error) => void;
}

export function createUndecidedInputs(limits: {
  readonly max: number;
  readonly perThreadMax: number;
  readonly perTenantMax: number;
}): UndecidedInputs {
  const waiting = new TransientSet<Waiting>();
  const ofThread = new ThreadMap<number>();
  const ofTenant = new Map<string, number>();

  function change(key: ThreadKey, by: 1 | -1): void {
    const count = (ofThread.get(key) ?? 0) + by;
    if (count === 0) ofThread.delete(key);
    else ofThread.set(key, count);
    const all = (ofTenant.get(key.tenant) ?? 0) + by;
    if (all === 0) ofTenant.delete(key.tenant);
    else ofTenant.set(key.tenant, all);
  }

  return {
    refusal: (key) => {
      if (waiting.size >= limits.max) return unavailable('Too many inputs are waiting.');
      if ((ofTenant.get(key.tenant) ?? 0) >= limits.perTenantMax)
        return unavailable('Too many inputs of this tenant are waiting.');
      const isFull = (ofThread.get(key) ?? 0) >= limits.perThreadMax;
      return isFull ? unavailable('Too many inputs of this thread are waiting.') : null;
    },
    add: (key, input, trace) => {
      const { tenant, thread } = key;
      const { promise: done, resolve, reject } = Promise.withResolvers<void>();
      const leave = (settle: () => void): void => {
        if (!waiting.delete(ticket)) return;
        change(key, -1);
        settle();
      };
      // At the end of this tick of the event loop: the effects of the decision go to the disk first.
      const decided = (): void => leave(() => atEndOfTick(resolve));
      const undecided = { tenant, thread, input, trace, since: performance.now(), isWithdrawn: false, decided };
      const refuse = (why: Error): void => {
        undecided.isWithdrawn = true;
        leave(() => reject(why));
      };
      const ticket = waiting.add({ undecided, refuse });
      change(key, 1);
      return { undecided, done };
    },
    all: () => [...waiting.values()].map(({ undecided }) => undecided),
    refuseOld: (since, why) => {
      let count = 0;
      for (const { undecided, refuse } of waiting.values()) {
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
      for (const { refuse } of waiting.values()) refuse(why);
    },
  };
}
