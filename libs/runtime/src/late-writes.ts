// Writes of what is counted in memory: some time after it was counted, off the path, one at a time.
import { type Clock, Fault, type Logger } from '@dormouse/ports';

export interface LateWrites {
  /** Something is to be written. */
  readonly schedule: () => void;
  /** One attempt, after the one that is under way; what is counted meanwhile is in the next. */
  readonly write: () => Promise<void>;
}

/** `writeAll` may throw: it is tried again, and `warning` is logged once until it has succeeded. */
export function createLateWrites(
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  { everyMs, warning }: { readonly everyMs: number; readonly warning: string },
  writeAll: () => Promise<void>,
): LateWrites {
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
      if (!isFailing) logger.warn(warning, { code: error instanceof Fault ? error.code : String(error) });
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
