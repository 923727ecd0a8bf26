// Writes of what is counted in memory: some time after it was counted, off the path, one at a time.
import type { Clock } from '@dormouse/ports';
import { faultCode } from './fault-code.ts';

export interface LateWrites {
  /** Something is to be written. */
  readonly schedule: () => void;
  /** One attempt, after the one that is under way; what is counted meanwhile is in the next. */
  readonly write: () => Promise<void>;
}

export interface LateWritesDeps {
  readonly clock: Clock;
  readonly everyMs: number;
  /** May throw: it is tried again. */
  readonly writeAll: () => Promise<void>;
  /** Gets the code of the first failure, once until a write has succeeded. */
  readonly warn: (code: string) => void;
}

export function createLateWrites({ clock, everyMs, writeAll, warn }: LateWritesDeps): LateWrites {
  let isScheduled = false;
  let isFailing = false;
  let writing: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    clock.alarm(everyMs, () => {
      isScheduled = false;
      void write();
    });
  }

  async function attempt(): Promise<void> {
    try {
      await writeAll();
      isFailing = false;
    } catch (error) {
      if (!isFailing) warn(faultCode(error));
      isFailing = true;
      schedule();
    }
  }

  function write(): Promise<void> {
    writing = writing.then(attempt);
    return writing;
  }

  return { schedule, write };
}
