// A clock that moves only when a spec advances it. Sleepers wake in the order of their due times.
import type { Clock } from '@dormouse/ports';

export interface ManualClock extends Clock {
  /** Moves time, wakes the sleepers that are due, and lets everything that follows settle. */
  advance(ms: number): Promise<void>;
  /** Moves time at once, as the clock of a machine that was asleep: a sleeper wakes once. */
  jump(ms: number): Promise<void>;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

export function createManualClock(startsAt = 1_764_000_000_000): ManualClock {
  let now = startsAt;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve();
        const sleeper = { due: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
        function wake(): void {
          if (sleepers.delete(sleeper)) resolve();
        }
      });
    },
    alarm(ms, ring) {
      const sleeper = {
        due: now + ms,
        wake: () => {
          if (sleepers.delete(sleeper)) ring();
        },
      };
      sleepers.add(sleeper);
      return () => void sleepers.delete(sleeper);
    },
    async jump(ms) {
      now += ms;
      await this.advance(0);
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await settle();
        const next = earliest(sleepers);
        if (next === null || next.due > until) break;
        now = Math.max(now, next.due);
        next.wake();
      }
      now = until;
      await settle();
    },
  };
}

function earliest(sleepers: ReadonlySet<Sleeper>): Sleeper | null {
  let first: Sleeper | null = null;
  for (const sleeper of sleepers) if (first === null || sleeper.due < first.due) first = sleeper;
  return first;
}

/** Resolves when every pending microtask has run. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
