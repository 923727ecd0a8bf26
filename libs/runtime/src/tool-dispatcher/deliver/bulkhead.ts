// A fair semaphore: at most `max` places are taken, and waiting callers get places in the order of their arrival.
//
// Invariants:
//   B1. At most `max` places are taken. A freed place goes to the caller that has waited longest, never to a newcomer.
//   B2. A caller that stops waiting has taken no place.
export interface Bulkhead {
  /** True with a place, which must be given back; false when there is none. */
  enterNow(): boolean;
  /** True with a place, which must be given back; false when the signal ended the wait. */
  enter(signal: AbortSignal): Promise<boolean>;
  leave(): void;
  readonly isEmpty: boolean;
}

export function createBulkhead(max: number): Bulkhead {
  let taken = 0;
  const waiting = new Set<(placed: boolean) => void>();

  function wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (placed: boolean): void => {
        waiting.delete(end);
        signal.removeEventListener('abort', giveUp);
        resolve(placed);
      };
      const giveUp = (): void => end(false); // (B2)
      waiting.add(end);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  function enterNow(): boolean {
    if (taken >= max) return false;
    taken += 1;
    return true;
  }

  return {
    enterNow,
    enter(signal) {
      if (signal.aborted) return Promise.resolve(false);
      return enterNow() ? Promise.resolve(true) : wait(signal);
    },
    leave() {
      for (const end of waiting) return end(true); // (B1) the place changes hands
      taken -= 1;
    },
    get isEmpty() {
      return taken === 0 && waiting.size === 0;
    },
  };
}
