// How the writer's thread is woken: one number in shared memory, how often something was posted.
//
// Invariants:
//   N1. `sleep` returns at once when something was posted after `seen` was read.
export const signalBytes = 4;

const posted = 0;

export interface WriterSignal {
  /** How often something was posted. */
  posts(): number;
  /** Something was posted. */
  post(): void;
  /** Until something is posted after `seen`, or `ms` are over. */
  sleep(seen: number, ms: number | undefined): 'ok' | 'not-equal' | 'timed-out';
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
    sleep: (seen, ms) => Atomics.wait(numbers, posted, seen, ms),
  };
}
