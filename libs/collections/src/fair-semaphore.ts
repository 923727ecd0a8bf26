// A fair semaphore: at most `max` places are held at once, and the waiting keys take turns.
//
// Invariants:
//   F1. At most `max` places are held. A released place goes to a waiting key that may have it, never to a newcomer.
//   F2. Waiting keys take turns: between two places of one key every other waiting key gets one. A key's order is kept.
//   F3. A key holds at most a quarter of the places, or two: the rest stays available to other keys, even while one
//       key's holders hang.
import { TransientMap } from './transient-map.ts';

export interface FairSemaphore {
  /** Whether a place is free and no key waits for one. */
  readonly isFree: boolean;
  /** Resolves with a place, which must be given back under the same key. */
  enter(key: string): Promise<void>;
  leave(key: string): void;
}

/** The place of a message that is being handled. */
export interface Place {
  /** Releases the place while `wait` runs, and takes one before it resolves; none is held after a rejection. */
  releasedDuring<Result>(wait: () => Promise<Result>): Promise<Result>;
}

export function createFairSemaphore(max: number): FairSemaphore {
  const perKeyMax = Math.max(2, Math.ceil(max / 4));
  let held = 0;
  const heldOf = new TransientMap<string, number>();
  /** In the order of their turns. While a place is free, every key here holds as many as it may. */
  const waiting = new Map<string, (() => void)[]>();

  const mayHaveMore = (key: string): boolean => (heldOf.get(key) ?? 0) < perKeyMax; // (F3)

  function take(key: string): void {
    held += 1;
    heldOf.set(key, (heldOf.get(key) ?? 0) + 1);
  }

  function giveBack(key: string): void {
    held -= 1;
    const left = (heldOf.get(key) ?? 1) - 1;
    if (left === 0) heldOf.delete(key);
    else heldOf.set(key, left);
  }

  /** (F1, F2) */
  function letNextEnter(): void {
    for (const [key, queue] of waiting) {
      if (!mayHaveMore(key)) continue;
      const enter = queue.shift();
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue); // behind the others
      if (enter === undefined) continue;
      take(key);
      return enter();
    }
  }

  return {
    get isFree() {
      return held < max && waiting.size === 0;
    },
    enter(key) {
      if (held < max && mayHaveMore(key)) {
        take(key);
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const queue = waiting.get(key);
        if (queue === undefined) waiting.set(key, [resolve]);
        else queue.push(resolve);
      });
    },
    leave(key) {
      giveBack(key);
      letNextEnter();
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
      semaphore.leave(key);
      const result = await wait();
      await semaphore.enter(key);
      isHeld = true;
      return result;
    },
  };
  try {
    return await work(place);
  } finally {
    if (isHeld) semaphore.leave(key);
  }
}

/** For work whose places are not counted. */
export const uncountedPlace: Place = { releasedDuring: (wait) => wait() };
