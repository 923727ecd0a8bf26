// Produces again what a store holds and the topic `inputs` may have lost: openings lost between a thread's row and the
// topic, and the wake of a parked thread that an operator has asked to replay.
//
// Invariants:
//   Z1. Producing an opening twice opens a thread once: it has one input id. The same holds for the wake of a replay.
//   Z2. A thread is woken for as long as it is marked to be replayed: its owner may have died during the replay. Inputs
//       that an owner has already decided are settled from what that owner still holds.
import { replayWake, type ThreadKey } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { createRepeatedService } from '../../repeated-service.ts';
import type { Service } from '../../service.ts';

export interface InputSweeperPorts extends Pick<IngressParts, 'directory' | 'parked' | 'bus' | 'clock'> {
  /** Reports a failure; the next sweep tries again. */
  readonly failed: (fault: unknown) => void;
}

const sweepEveryMs = 15_000;
const stuckAfterMs = 30_000;
const sweptMax = 200;

export function createInputSweeper(ports: InputSweeperPorts): Service {
  const { directory, parked, bus, clock, failed } = ports;
  const stopped = new AbortController();
  const waking = new Set<string>();

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

  /** Each separately: the bus may answer only when the thread has decided. */
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

  async function look(): Promise<void> {
    await sweepOpenings().catch(failed);
    await sweepReplays().catch(failed);
  }

  return createRepeatedService({ clock, stopped, everyMs: sweepEveryMs }, look);
}

const nameOf = ({ tenant, thread }: ThreadKey): string => `${tenant}:${thread}`;
