// The topics: made by an idempotent command, checked by every process that opens the bus.
//
// Invariants:
//   T1. A partition count is never changed: a thread's partition is a function of it, and its order would be lost.
//   T2. Nothing that may still be owed expires: a topic keeps its records for 14 days at least.
import { Fault } from '@dormouse/ports';
import kafkajs, { type Admin } from 'kafkajs';
import { faultOf } from './kafka-client.ts';

export const topicNames = ['inputs', 'dispatches', 'notices'] as const;
export type TopicName = (typeof topicNames)[number];

export interface TopicPlan {
  readonly partitions: number;
  readonly replication: number;
  readonly retentionMs: number;
}

const retentionMsMin = 14 * 86_400_000;

export const defaultPlan: TopicPlan = { partitions: 12, replication: 1, retentionMs: retentionMsMin };

/** Makes what is missing, then checks all. @throws Fault TOPICS_UNFIT, UNAVAILABLE. */
export async function ensureTopics(admin: Admin, prefix: string, plan: TopicPlan = defaultPlan): Promise<void> {
  try {
    const there = new Set(await admin.listTopics());
    const missing = topicNames.map((name) => prefix + name).filter((topic) => !there.has(topic));
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map((topic) => ({
        topic,
        numPartitions: plan.partitions,
        replicationFactor: plan.replication,
        configEntries: [
          { name: 'retention.ms', value: String(plan.retentionMs) },
          { name: 'cleanup.policy', value: 'delete' },
          ...(plan.replication >= 3 ? [{ name: 'min.insync.replicas', value: '2' }] : []),
        ],
      })),
    });
  } catch (error) {
    throw faultOf(error);
  }
  const count = await checkTopics(admin, prefix);
  if (count !== plan.partitions)
    throw unfit(
      `The topics have ${count} partitions, and ${plan.partitions} are wanted. A count is never changed: use ${count}, or another prefix.`,
    ); // (T1)
}

/** Their partition count. @throws Fault TOPICS_UNFIT with what mends it, UNAVAILABLE. */
export async function checkTopics(admin: Admin, prefix: string): Promise<number> {
  const topics = topicNames.map((name) => prefix + name);
  try {
    const there = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !there.has(topic));
    if (missing.length > 0)
      throw unfit(`These topics are missing: ${missing.join(', ')}. Make them with: npm run setup`);
    const metadata = await admin.fetchTopicMetadata({ topics });
    const counts = new Set(metadata.topics.map(({ partitions }) => partitions.length));
    const [count] = counts;
    if (counts.size !== 1 || count === undefined)
      throw unfit(
        `The topics of one prefix must have one number of partitions; these have ${[...counts].join(', ')}. Somebody changed one by hand: make new topics under another DORMOUSE_KAFKA_PREFIX.`,
      );
    await checkRetention(admin, topics);
    return count;
  } catch (error) {
    throw error instanceof Fault ? error : faultOf(error);
  }
}

/** (T2) */
async function checkRetention(admin: Admin, topics: readonly string[]): Promise<void> {
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: ['retention.ms'] })),
  });
  for (const { resourceName, configEntries } of described.resources) {
    const kept = Number(configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue ?? -1);
    if (kept >= 0 && kept < retentionMsMin)
      throw unfit(
        `${resourceName} keeps its records for ${kept} ms. Set its retention.ms to ${retentionMsMin} or more.`,
      );
  }
}

const unfit = (detail: string): Fault => new Fault('TOPICS_UNFIT', detail);
