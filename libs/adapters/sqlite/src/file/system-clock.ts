// The clock of the machine. The only file of this adapter that reads the time.
import type { Clock } from '@dormouse/ports';
import { setTimeout as sleep } from 'node:timers/promises';

/** setTimeout counts in 32 bits. */
const longestTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // An aborted sleep ends without an error.
    await sleep(ms, undefined, { signal }).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  },
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, Math.min(ms, longestTimerMs));
    return () => clearTimeout(timer);
  },
};
