// How far the consumer groups are behind, as the brokers have it: for an operator, who asks from outside of them.
//
// Invariants:
//   G1. Nothing joins a group, and no record is read: the age of a record is found by asking for offsets by time.
//   G2. A coordinator that a broker is still loading is asked again for a while: a broker that has just started is no
//       fault of the installation.
import type { Admin } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from './passing-error.ts';
import type { TopicName } from './topic-names.ts';

export interface GroupLag {
  readonly topic: TopicName;
  readonly group: string;
  /** Processes that consume it now. */
  readonly members: number;
  /** Records from the group's low watermark on; of some of them, later ones, the group may have finished already. */
  readonly records: number;
  /** Age of the oldest of them, in milliseconds, to the second; 0 for none. */
  readonly oldestMs: number;
}

/** Older records are as old as this: the retention of topics is 14 days at least. */
const ageMsMax = 15 * 86_400_000;
const precisionMs = 1_000;
const askAgainMs = 500;
const askedMax = 30;

type GroupOfTopic = Pick<GroupLag, 'topic' | 'group'>;

export async function groupLagOf(admin: Admin, prefix: string, of: GroupOfTopic): Promise<GroupLag> {
  for (let asked = 1; ; asked += 1) {
    try {
      return await lagNow(admin, prefix, of);
    } catch (error) {
      if (asked >= askedMax || !isPassing(error)) throw error;
      await sleep(askAgainMs); // (G2)
    }
  }
}

async function lagNow(admin: Admin, prefix: string, { topic, group }: GroupOfTopic): Promise<GroupLag> {
  const name = prefix + topic;
  const [ends, [committed], { groups }] = await Promise.all([
    admin.fetchTopicOffsets(name),
    admin.fetchOffsets({ groupId: group, topics: [name] }),
    admin.describeGroups([group]),
  ]);
  const begun = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  /** First unfinished record of each partition that has one. */
  const behind = new Map<number, number>();
  let records = 0;
  for (const { partition, low, high } of ends) {
    const next = Math.max(begun.get(partition) ?? -1, Number(low)); // -1: the group has committed nothing yet
    if (Number(high) <= next) continue;
    behind.set(partition, next);
    records += Number(high) - next;
  }
  const members = groups[0]?.members.length ?? 0;
  return { topic, group, members, records, oldestMs: records === 0 ? 0 : await ageOf(admin, name, behind) };
}

/** Age of the oldest of these records. (G1) */
async function ageOf(admin: Admin, topic: string, records: ReadonlyMap<number, number>): Promise<number> {
  const now = Date.now();
  /** Whether one of them is from before this time. */
  const isFromBefore = async (time: number): Promise<boolean> => {
    const found = await admin.fetchTopicOffsetsByTimestamp(topic, time);
    return found.some(({ partition, offset }) => Number(offset) > (records.get(partition) ?? Infinity));
  };
  let [youngest, oldest] = [0, ageMsMax];
  if (await isFromBefore(now - oldest)) return oldest;
  while (oldest - youngest > precisionMs) {
    const age = Math.floor((youngest + oldest) / 2);
    if (await isFromBefore(now - age)) youngest = age;
    else oldest = age;
  }
  return youngest;
}
