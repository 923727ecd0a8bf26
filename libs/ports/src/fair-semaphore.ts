// Places that are shared: at most `max` are held at once, and who waits for one takes turns by key.
//
// Invariants:
//   F1. At most `max` places are held. A place that is given back goes to a waiting key, never to a newcomer.
//   F2. Waiting keys take turns: between two places of one key every other waiting key gets one. Within a key the order is kept.
export interface FairSemaphore {
  /** Whether a place is free and no key waits. */
  readonly isFree: boolean;
  /** Resolves with a place, which must be given back. */
  enter(key: string): Promise<void>;
  leave(): void;
}

/** The place of a message that is being handled. */
export interface Place {
  /** Gives the place back while `wait` runs, and takes one again before it resolves. A wait that rejects leaves no place behind. */
  releasedDuring<Result>(wait: () => Promise<Result>): Promise<Result>;
}

export function createFairSemaphore(max: number): FairSemaphore {
  let held = 0;
  /** In the order of their turns. */
  const waiting = new Map<string, (() => void)[]>();

  /** (F2) */
  function next(): (() => void) | undefined {
    for (const [key, queue] of waiting) {
      const enter = queue.shift();
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue); // behind the others
      if (enter !== undefined) return enter;
    }
    return undefined;
  }

  return {
    get isFree() {
      return held < max && waiting.size === 0;
    },
    enter(key) {
      if (held < max && waiting.size === 0) {
        held += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const queue = waiting.get(key);
        if (queue === undefined) waiting.set(key, [resolve]);
        else queue.push(resolve);
      });
    },
    leave() {
      const enter = next();
      if (enter === undefined) held -= 1;
      else enter(); // (F1) the place changes hands
    },
  };
}

/** Runs `work` with a place of `key`. */
export async function withPlace<Result>(
  semaphore: FairSemaphore,
  key: string,
  work: (place: Place) => Promise<Result>,
): Promise<Result> {
  await semaphore.enter(key);
  let isHeld = true;
  const place: Place = {
    releasedDuring: async (wait) => {
      isHeld = false;
      semaphore.leave();
      const result = await wait();
      await semaphore.enter(key);
      isHeld = true;
      return result;
    },
  };
  try {
    return await work(place);
  } finally {
    if (isHeld) semaphore.leave();
  }
}

/** Where places are not counted. */
export const uncountedPlace: Place = { releasedDuring: (wait) => wait() };
