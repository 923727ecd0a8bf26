// Produces again what a store knows of and the topic `inputs` may not: the openings that were lost between a thread's row and
// the topic, and the wake of a parked thread that an operator wants to go on. design §4
//
// Invariants:
//   Z1. Producing an opening twice opens a thread once: it has one input id. So it is with the wake of a replay.
//   Z2. A thread is woken for as long as it is marked to be replayed: whoever owned it may have died over it. What an owner
//       has decided already it settles with what it has in hand.
import {
  type Clock,
  type InputBus,
  type ParkedThreads,
  replayWake,
  type ThreadDirectory,
  type ThreadKey,
} from '@dormouse/ports';
import type { Service } from '../service.ts';

export interface InputSweeperPorts {
  readonly directory: ThreadDirectory;
  readonly parked: ParkedThreads;
  readonly bus: InputBus;
  readonly clock: Clock;
  /** Told of what failed; the next sweep tries again. */
  readonly failed: (fault: unknown) => void;
}

const sweepEveryMs = 15_000;
const stuckAfterMs = 30_000;
const sweptMax = 200;

export function createInputSweeper(ports: InputSweeperPorts): Service {
  const { directory, parked, bus, clock, failed } = ports;
  const stopped = new AbortController();
  const waking = new Set<string>();
  let running: Promise<void> = Promise.resolve();

  async function sweepOpenings(): Promise<void> {
    for (const row of await directory.stuckOpenings(clock.now() - stuckAfterMs, sweptMax)) {
      if (stopped.signal.aborted) return;
      if (row.opening !== null) await bus.publish({ tenant: row.tenant, thread: row.thread }, row.opening); // (Z1)
    }
  }

  /** (Z2) */
  async function sweepReplays(): Promise<void> {
    for (const key of await parked.replays()) if (!waking.has(nameOf(key)) && !stopped.signal.aborted) void wake(key);
  }

  /** Each by itself: the bus may answer only when the thread has decided. */
  async function wake(key: ThreadKey): Promise<void> {
    waking.add(nameOf(key));
    try {
      await bus.publish(key, replayWake);
    } catch (fault) {
      if (!stopped.signal.aborted) failed(fault);
    } finally {
      waking.delete(nameOf(key));
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await sweepOpenings().catch(failed);
      await sweepReplays().catch(failed);
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

const nameOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;
