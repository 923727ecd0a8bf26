// Everything the owner of a partition holds in memory for it: lanes and cached states, for one generation.
//
// Invariants:
//   A1. After a rebalance everything starts from nothing, also for a partition that came back. (V6) Only an orphaned
//       completion that still runs continues, for the lane that owes it again (left-completions.ts).
//   A2. When `revoke` resolves, nothing of this assignment touches a store again.
import { ThreadMap } from '@dormouse/collections';
import type { ThreadDelivery } from '@dormouse/ports';
import { Lane, type LaneHome } from './lane.ts';

export interface LiveAssignment {
  deliver(delivery: ThreadDelivery): void;
  /** All lanes. */
  readonly lanes: number;
  /** Lanes with a slice or a completion in progress. */
  busyLanes(): number;
  revoke(): Promise<void>;
}

export type AssignmentHome = Omit<LaneHome, 'revoked' | 'retire'>;

export function createAssignment(id: string, home: AssignmentHome): LiveAssignment {
  const lanes = new ThreadMap<Lane>();
  const revocation = new AbortController();
  const laneHome: LaneHome = { ...home, revoked: revocation.signal, retire };

  function retire(lane: Lane): void {
    if (lanes.get(lane.key) === lane) lanes.delete(lane.key);
  }

  function laneOf(delivery: ThreadDelivery): Lane {
    const known = lanes.get(delivery);
    if (known !== undefined) return known;
    const { tenant, thread } = delivery;
    const lane = new Lane(laneHome, { tenant, thread }, `${id}|${tenant}:${thread}`);
    lanes.set(lane.key, lane);
    return lane;
  }

  return {
    deliver: (delivery) => {
      if (!revocation.signal.aborted) laneOf(delivery).deliver(delivery);
    },
    get lanes() {
      return lanes.size;
    },
    busyLanes: () => {
      let busy = 0;
      for (const lane of lanes.values()) if (lane.isBusy) busy += 1;
      return busy;
    },
    revoke: async () => {
      revocation.abort();
      await Promise.all([...lanes.values()].map((lane) => lane.stopped())); // (A2)
      lanes.clear();
      home.cache.dropAll(`${id}|`); // (A1)
    },
  };
}
