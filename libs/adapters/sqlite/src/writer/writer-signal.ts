// Wakes the writer's thread: one number in shared memory counts the posts.
//
// Invariants:
//   N1. `sleep` returns at once when there was a post after `seen` was read.
export const signalBytes = 4;

const posted = 0;

export interface WriterSignal {
  /** The number of posts. */
  posts(): number;
  /** Counts one more post and wakes the thread. */
  post(): void;
  /** Returns at the next post after `seen`, or after `ms`. */
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
