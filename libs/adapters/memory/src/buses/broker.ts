// The brokers of a durable world, as one: topics with partitions, each led by one of two brokers; consumer groups with
// generations; committed offsets. It is the durable part and the coordinator; a process's view is in `group-member.ts`.
//
// Invariants:
//   K1. A record's partition is a function of tenant and thread; within it order is the order of appending.
//   K2. A rebalance gives every partition of the group to a live member under a new generation. An offset commit of
//       another generation is ignored: that is the fence against zombies.
//   K3. A member that is cut off learns of no rebalance, may not commit, and goes on fetching where it was: the zombie.
//   K4. A commit never moves the committed offset back.
//   K8. A broker answers a fetch with the positions that it was sent with, however late. A member that finds a
//       partition led by another broker rejoins: a new generation, in which every partition stays where it was. A group
//       that has lost its state restarts its count of generations, and its members join again.
//   K9. The first record for a partition that has just moved is neither answered nor stored: it is sent again.
//   K11. A broker that loses the tail of a partition moves the committed offset to what is left, under a new
//       generation: a claim never begins behind the end. Only released records are lost here.
import { Fault, type ThreadKey } from '@dormouse/ports';

export type TopicName = 'inputs' | 'dispatches' | 'notices';

export interface BusRecord extends ThreadKey {
  readonly trace: string | null;
  /** JSON, as a real bus would carry it. */
  readonly value: string;
}

/** One consumer in one process. */
export interface Member {
  readonly node: string;
  /** The generation it knows of; -1 before the first. */
  generation: number;
  /** Partition to next offset, as the process believes; a new map for every assignment. */
  positions: Map<number, number>;
  /** Partition to the broker that led it when the member joined. */
  leaders: readonly number[];
  /** Called when something may have changed for the member. */
  wake(): void;
}

/** What one loop of a member asks its broker for. */
export interface Fetch {
  readonly broker: number;
  /** The member's positions when the fetch was sent. */
  readonly positions: Member['positions'];
  readonly from: ReadonlyMap<number, number>;
}

export interface Group {
  members: Member[];
  generation: number;
  readonly owners: Map<number, Member>;
  readonly committed: number[];
}

export type Polled =
  | {
      readonly polled: 'assignment';
      readonly generation: number;
      readonly offsets: ReadonlyMap<number, number>;
      readonly leaders: readonly number[];
    }
  | {
      readonly polled: 'records';
      /** Of the fetch that is answered. (K8) */
      readonly positions: Member['positions'];
      readonly partition: number;
      readonly offset: number;
      readonly records: readonly BusRecord[];
    }
  | { readonly polled: 'nothing' };

export interface Broker {
  readonly topics: Readonly<Record<TopicName, readonly BusRecord[][]>>;
  readonly groups: Readonly<Record<TopicName, Group>>;
  /** True when an answer names the record's partition: the record is stored. (K9) */
  append(topic: TopicName, record: BusRecord): boolean;
  poll(topic: TopicName, member: Member, fetch: Fetch): Polled;
  /** False when the generation is no longer the group's. */
  commit(topic: TopicName, member: Member, generation: number, partition: number, offset: number): boolean;
  leave(topic: TopicName, member: Member): void;
  rebalance(topic: TopicName): void;
  /** The group forgets its members and restarts its count of generations. */
  countAnew(topic: TopicName): void;
  /** Up to `records` records at the end are lost, if the whole partition is released. (K11) */
  loseTail(topic: TopicName, partition: number, records: number): void;
  /** Another broker leads the partition from now on. */
  move(topic: TopicName, partition: number): void;
  /** The session of every member of this process has expired: its partitions go to others. */
  expire(node: string): void;
  /** The process is dead: it fetches no more. */
  forget(node: string): void;
  /** The coordinator and the process do not reach each other until `reconnect`. (K3) */
  cutOff(node: string): void;
  reconnect(node: string): void;
  /** Records that are not below a committed offset. */
  lag(topic: TopicName): number;
}

export const brokers: readonly number[] = [0, 1];
const recordsPerPollMax = 16;
const topicNames: readonly TopicName[] = ['inputs', 'dispatches', 'notices'];

export function createBroker(partitions: number): Broker {
  const perTopic = <T>(make: () => T): Record<TopicName, T> => ({
    inputs: make(),
    dispatches: make(),
    notices: make(),
  });
  const topics = perTopic(() => Array.from({ length: partitions }, (): BusRecord[] => []));
  const groups = perTopic((): Group => ({
    members: [],
    generation: 0,
    owners: new Map(),
    committed: Array.from({ length: partitions }, () => 0),
  }));
  const fetching = perTopic(() => new Set<Member>());
  const leaders = perTopic(() => Array.from({ length: partitions }, (_, partition) => partition % brokers.length));
  const justMoved = perTopic(() => new Set<number>());
  const cut = new Set<string>();
  return {
    topics,
    groups,
    append: (topic, record) => {
      const partition = partitionOf(record, partitions);
      if (justMoved[topic].delete(partition)) return false; // (K9)
      topics[topic][partition]?.push(record);
      for (const member of fetching[topic]) member.wake();
      return true;
    },
    poll: (topic, member, fetch) => {
      const group = groups[topic];
      fetching[topic].add(member);
      if (!cut.has(member.node)) {
        if (!group.members.includes(member)) join(group, member);
        const isMoved = [...member.positions.keys()].some((each) => member.leaders[each] !== leaders[topic][each]);
        if (isMoved && member.generation === group.generation) nextGeneration(group); // (K8)
        if (member.generation !== group.generation)
          return {
            polled: 'assignment',
            generation: group.generation,
            offsets: offsetsOf(group, member),
            leaders: [...leaders[topic]],
          };
      }
      return answer(topics[topic], leaders[topic], fetch);
    },
    commit: (topic, member, generation, partition, offset) => {
      if (cut.has(member.node)) throw new Fault('UNAVAILABLE', 'cut off from the coordinator');
      const group = groups[topic];
      if (generation !== group.generation) return false; // (K2)
      group.committed[partition] = Math.max(group.committed[partition] ?? 0, offset); // (K4)
      return true;
    },
    leave: (topic, member) => {
      fetching[topic].delete(member);
      remove(groups[topic], (other) => other === member);
    },
    rebalance: (topic) => rebalance(groups[topic]),
    countAnew: (topic) => {
      const group = groups[topic];
      group.members = [];
      group.generation = 0;
      group.owners.clear();
      for (const member of fetching[topic]) member.wake();
    },
    loseTail: (topic, partition, records) => {
      const log = topics[topic][partition] ?? [];
      const group = groups[topic];
      if (group.committed[partition] !== log.length) return;
      log.length = Math.max(0, log.length - records);
      group.committed[partition] = log.length; // (K11)
      nextGeneration(group);
    },
    move: (topic, partition) => {
      leaders[topic][partition] = ((leaders[topic][partition] ?? 0) + 1) % brokers.length;
      justMoved[topic].add(partition);
      for (const member of fetching[topic]) member.wake();
    },
    expire: (node) => {
      for (const topic of topicNames) remove(groups[topic], (member) => member.node === node);
    },
    forget: (node) => {
      for (const topic of topicNames)
        for (const member of fetching[topic]) if (member.node === node) fetching[topic].delete(member);
    },
    cutOff: (node) => void cut.add(node),
    reconnect: (node) => {
      cut.delete(node);
      for (const topic of topicNames) for (const member of fetching[topic]) if (member.node === node) member.wake();
    },
    lag: (topic) =>
      topics[topic].reduce(
        (sum, records, partition) => sum + records.length - (groups[topic].committed[partition] ?? 0),
        0,
      ),
  };
}

function join(group: Group, member: Member): void {
  group.members.push(member);
  member.generation = -1;
  rebalance(group);
}

function remove(group: Group, which: (member: Member) => boolean): void {
  const left = group.members.filter((member) => !which(member));
  if (left.length === group.members.length) return;
  group.members = left;
  rebalance(group);
}

/** Every rebalance moves every partition by one member: the harshest assignment there is. */
function rebalance(group: Group): void {
  nextGeneration(group);
  group.owners.clear();
  for (const partition of group.committed.keys()) {
    const owner = group.members[(partition + group.generation) % Math.max(1, group.members.length)];
    if (owner !== undefined) group.owners.set(partition, owner);
  }
}

function nextGeneration(group: Group): void {
  group.generation += 1;
  for (const member of group.members) member.wake();
}

function offsetsOf(group: Group, member: Member): ReadonlyMap<number, number> {
  const offsets = new Map<number, number>();
  for (const [partition, owner] of group.owners)
    if (owner === member) offsets.set(partition, group.committed[partition] ?? 0);
  return offsets;
}

function answer(
  partitions: readonly (readonly BusRecord[])[],
  leaders: readonly number[],
  { broker, positions, from }: Fetch,
): Polled {
  for (const [partition, offset] of from) {
    if (leaders[partition] !== broker) continue;
    const records = partitions[partition]?.slice(offset, offset + recordsPerPollMax) ?? [];
    if (records.length > 0) return { polled: 'records', positions, partition, offset, records };
  }
  return { polled: 'nothing' };
}

function partitionOf({ tenant, thread }: ThreadKey, partitions: number): number {
  let hash = 2_166_136_261;
  for (const character of `${tenant}:${thread}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return (hash >>> 0) % partitions;
}
