// The clock of a process: the machine's time, plus the offset that a developer added, in this process or an earlier one
// on the same data directory.
//
// Invariants:
//   D1. Time never goes back while the process runs, not even when the machine's clock does.
//   D2. Moving it wakes every sleeper that is due by then.
//   D3. It is moved only after the new offset is kept: no commit is written at a time that a restart would take back.
import { TransientSet } from '@dormouse/collections';
import { type Clock } from '@dormouse/ports';
import { type ClockOffset, unkeptOffset } from './clock-offset.ts';

export interface ProcessClock extends Clock {
  /** Milliseconds that were added to the machine's time. */
  offset(): number;
  /** Resolves when every due sleeper has been woken. @throws Fault UNAVAILABLE, and the time is as before. */
  advance(ms: number): Promise<void>;
  /** Takes over the offset of a data directory, and keeps it there from now on. Once, at the start. */
  goOnFrom(kept: ClockOffset): Promise<void>;
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
  timer: NodeJS.Timeout;
}

/** setTimeout counts in 32 bits; longer sleeps check again after this long. */
const longestTimerMs = 2_000_000_000;

export function createProcessClock(machineNow: () => number = Date.now): ProcessClock {
  const sleepers = new TransientSet<Sleeper>();
  let offset = 0;
  let store = unkeptOffset;
  let latest = 0;

  function now(): number {
    latest = Math.max(latest, machineNow() + offset); // (D1)
    return latest;
  }

  function timerFor(due: number, look: () => void): NodeJS.Timeout {
    return setTimeout(look, Math.min(longestTimerMs, Math.max(0, due - now())));
  }

  function look(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    if (now() >= sleeper.due) sleeper.wake();
    else sleeper.timer = timerFor(sleeper.due, () => look(sleeper));
  }

  function alarm(ms: number, ring: () => void): () => void {
    const due = now() + ms;
    const stop = (): void => {
      clearTimeout(sleeper.timer);
      sleepers.delete(ticket);
    };
    const wake = (): void => {
      stop();
      ring();
    };
    const sleeper: Sleeper = { due, wake, timer: timerFor(due, () => look(sleeper)) };
    const ticket = sleepers.add(sleeper);
    return stop;
  }

  async function move(ms: number): Promise<void> {
    offset = ms;
    for (const sleeper of sleepers.values()) look(sleeper); // (D2) skips sleepers that another one stopped
    await new Promise((resolve) => setImmediate(resolve));
  }

  return {
    now,
    alarm,
    offset: () => offset,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const stop = alarm(ms, () => {
          signal?.removeEventListener('abort', end);
          resolve();
        });
        const end = (): void => {
          stop();
          resolve();
        };
        signal?.addEventListener('abort', end, { once: true });
      });
    },
    async advance(ms) {
      if (ms > 0) store.keep(offset + ms); // (D3)
      await move(offset + ms);
    },
    async goOnFrom(kept) {
      store = kept;
      await move(kept.ms);
    },
  };
}
