// How the writer's thread is woken: two numbers in shared memory, how often something was posted, and whether it sleeps.
//
// Invariants:
//   N1. What is posted after `seen` was read is never slept over.
//   N2. A wake for something that never comes costs at most the time that is watched for it, once for each that is told.
import { availableParallelism } from 'node:os';

export const signalBytes = 8;

/** Longer than the event loop takes from deciding to posting; with one processor, watching would only keep it from that. */
export const watchMsMax = availableParallelism() > 1 ? 0.25 : 0;

const posted = 0;
const asleep = 1;

export interface WriterSignal {
  /** How often something was posted. */
  posts(): number;
  /** Something was posted. */
  post(): void;
  /** Something is about to be posted. */
  wake(): void;
  /** Until something is posted after `seen`, or is about to be. */
  sleep(seen: number, ms: number | undefined): 'ok' | 'not-equal' | 'timed-out';
  /** The same awake, for `ms` at most; false when nothing came. */
  watch(seen: number, ms: number): boolean;
}

/** One for each end, over the same memory. */
export function createWriterSignal(memory: SharedArrayBuffer): WriterSignal {
  const numbers = new Int32Array(memory);
  return {
    posts: () => Atomics.load(numbers, posted),
    post: () => {
      Atomics.add(numbers, posted, 1);
      Atomics.notify(numbers, posted);
    },
    wake: () => {
      if (Atomics.load(numbers, asleep) === 1) Atomics.notify(numbers, posted);
    },
    sleep: (seen, ms) => {
      Atomics.store(numbers, asleep, 1);
      const woken = Atomics.wait(numbers, posted, seen, ms);
      Atomics.store(numbers, asleep, 0);
      return woken;
    },
    watch: (seen, ms) => {
      const until = performance.now() + ms;
      while (Atomics.load(numbers, posted) === seen) if (performance.now() >= until) return false;
      return true;
    },
  };
}
