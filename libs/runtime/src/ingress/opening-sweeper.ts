// Produces again the openings that were lost between a thread's row and the topic `inputs`. design §4
//
// Invariant:
//   Z1. Producing an opening twice opens a thread once: it has one input id.
import type { Clock, InputBus, ThreadDirectory } from '@dormouse/ports';
import type { Service } from '../service.ts';

export interface OpeningSweeperPorts {
  readonly directory: ThreadDirectory;
  readonly bus: InputBus;
  readonly clock: Clock;
  /** Told of a sweep that failed; the next one tries again. */
  readonly failed: (fault: unknown) => void;
}

const sweepEveryMs = 15_000;
const stuckAfterMs = 30_000;
const sweptMax = 200;

export function createOpeningSweeper(ports: OpeningSweeperPorts): Service {
  const { directory, bus, clock, failed } = ports;
  const stopped = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    for (const row of await directory.stuckOpenings(clock.now() - stuckAfterMs, sweptMax)) {
      if (stopped.signal.aborted) return;
      if (row.opening !== null) await bus.publish({ tenant: row.tenant, thread: row.thread }, row.opening); // (Z1)
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sweep().catch(failed);
      await clock.sleep(sweepEveryMs, stopped.signal);
    }
  }

  return {
    start() {
      running = run();
      return Promise.resolve();
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}
