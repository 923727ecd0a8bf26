// Moves the partitions of a Kafka under its clients, and reports when every copy of all of them has everything.
//
// Invariants:
//   M1. Every partition has a copy on every broker when a move is over; between the two steps of one it has two copies
//       at least, so that what is acknowledged stands on two.
//   M2. It uses the brokers' listeners for each other: faults of the clients' connections do not reach it.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { shuffled } from './random.ts';

export interface PartitionMover {
  /** Every partition has all its copies in step; false when that takes longer than `withinMs`. */
  untilInStep(withinMs: number): Promise<boolean>;
  /** Removes the leader's copy of half of the partitions, and adds it again as the last: each gets another leader. */
  reassign(random: () => number): Promise<void>;
  /** Gives all partitions another order of their brokers: the controller elects the first of each. */
  reorder(random: () => number): Promise<void>;
  close(): Promise<void>;
}

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly inStep: readonly number[];
}

const pollMs = 150;
const moveWithinMs = 30_000;

export async function createPartitionMover(
  brokers: readonly string[],
  topics: readonly string[],
): Promise<PartitionMover> {
  const kafka = new Kafka({ brokers: [...brokers], clientId: 'chaos', logLevel: logLevel.NOTHING });
  const nodes = brokers.map((_, index) => index + 1);
  const admin: Admin = kafka.admin({ retry: { retries: 10, maxRetryTime: 1_000 } });
  await admin.connect();

  /** Null while the broker does not answer. */
  async function places(): Promise<readonly Place[] | null> {
    try {
      const described = await admin.fetchTopicMetadata({ topics: [...topics] });
      return described.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader, replicas, isr }) => ({
          topic: name,
          partition: partitionId,
          ...{ leader, replicas, inStep: isr },
        })),
      );
    } catch {
      return null;
    }
  }

  async function until(holds: (place: Place) => boolean, withinMs: number): Promise<boolean> {
    for (const end = Date.now() + withinMs; Date.now() < end; await sleep(pollMs)) {
      const now = await places();
      if (now?.every(holds) === true) return true;
    }
    return false;
  }

  /** Retries until the controller accepts: it may be the broker that has just been killed. */
  async function assign(wanted: readonly Pick<Place, 'topic' | 'partition' | 'replicas'>[]): Promise<boolean> {
    const byTopic = Map.groupBy(wanted, ({ topic }) => topic);
    const order = [...byTopic].map(([topic, all]) => ({
      topic,
      partitionAssignment: all.map(({ partition, replicas }) => ({ partition, replicas: [...replicas] })),
    }));
    for (const end = Date.now() + moveWithinMs; Date.now() < end; await sleep(pollMs)) {
      try {
        await admin.alterPartitionReassignments({ topics: order });
        return true;
      } catch {
        await admin.disconnect().catch(() => {});
        await admin.connect().catch(() => {});
      }
    }
    return false;
  }

  const untilInStep = (withinMs: number): Promise<boolean> =>
    until(({ leader, inStep }) => leader > 0 && inStep.length === nodes.length, withinMs);

  return {
    untilInStep,
    reassign: async (random) => {
      if (!(await untilInStep(moveWithinMs))) return; // (M1)
      const all = (await places()) ?? [];
      const moved = shuffled(all, random).slice(0, Math.ceil(all.length / 2));
      const names = new Map(moved.map((place) => [`${place.topic}-${place.partition}`, place]));
      const without = moved.map((place) => {
        const replicas = shuffled(nodes, random).filter((node) => node !== place.leader);
        return { ...place, replicas };
      });
      if (!(await assign(without))) return;
      await until(
        ({ topic, partition, leader }) => names.get(`${topic}-${partition}`)?.leader !== leader,
        moveWithinMs,
      );
      const back = without.map((place) => ({ ...place, replicas: [...place.replicas, place.leader] }));
      await assign(back);
      await untilInStep(moveWithinMs);
    },
    reorder: async (random) => {
      if (!(await untilInStep(moveWithinMs))) return;
      const all = (await places()) ?? [];
      await assign(all.map((place) => ({ ...place, replicas: shuffled(nodes, random) })));
      await until(({ leader, replicas }) => leader === replicas[0], moveWithinMs);
    },
    close: () => admin.disconnect(),
  };
}
