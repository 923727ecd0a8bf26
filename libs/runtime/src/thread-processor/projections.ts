// Keeps the rows of the thread directory up to date, off the path: coalesced per thread, in batches.
//
// Invariants:
//   J1. A row is a hint: losing one costs a stale list until the thread's next commit. Only the newest state is written.
//   J2. Nothing sleeps while nothing has changed.
import {
  type Clock,
  Fault,
  type Logger,
  type ThreadDirectory,
  type ThreadKey,
  type ThreadProjection,
} from '@dormouse/ports';
import { statusOf, type Thread } from '@dormouse/thread';

export interface Projections {
  changed(key: ThreadKey, thread: Thread): void;
  /** Writes what is left; one attempt. */
  flush(): Promise<void>;
  readonly waiting: number;
}

export function createProjections(deps: {
  readonly directory: ThreadDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: {
    readonly projectionDelayMs: number;
    readonly projectionsPerBatchMax: number;
    readonly retryDelayMsMax: number;
  };
}): Projections {
  const { projectionDelayMs, projectionsPerBatchMax, retryDelayMsMax } = deps.settings;
  const changed = new Map<string, ThreadProjection>();
  let writing = false;

  async function writeAll(): Promise<void> {
    while (changed.size > 0) {
      await deps.clock.sleep(projectionDelayMs);
      if (!(await writeBatch())) await deps.clock.sleep(retryDelayMsMax);
    }
    writing = false;
  }

  async function writeBatch(): Promise<boolean> {
    const batch = [...changed.entries()].slice(0, projectionsPerBatchMax);
    if (batch.length === 0) return true;
    try {
      await deps.directory.project(batch.map(([, projection]) => projection));
    } catch (error) {
      deps.logger.warn('projection_failed', {
        rows: batch.length,
        code: error instanceof Fault ? error.code : String(error),
      });
      return false;
    }
    // A newer one may have come meanwhile: only what was written is done.
    for (const [id, projection] of batch) if (changed.get(id) === projection) changed.delete(id);
    return true;
  }

  return {
    changed: (key, thread) => {
      const { title, titledAt, updatedAt, position } = thread;
      changed.set(`${key.tenant}:${key.thread}`, {
        ...key,
        status: statusOf(thread),
        title,
        titledAt,
        updatedAt,
        position,
      });
      if (writing) return;
      writing = true;
      void writeAll();
    },
    flush: async () => {
      while (changed.size > 0) if (!(await writeBatch())) return;
    },
    get waiting() {
      return changed.size;
    },
  };
}
