// The topics: created by an idempotent command, checked by every process that opens the bus.
//
// Invariants:
//   T1. A partition count never changes: a thread's partition depends on it, and the order of a thread would be lost.
//   T2. Nothing that may still be owed expires: a topic keeps its records for 14 days at least.
//   T3. Committed offsets are kept for as long as the records are: if they expired earlier, a group that was away would
//       begin at the beginning. A broker that does not show its settings passes the check, and that is logged.
//   T4. Every record that may be published fits: tool arguments of 1 MiB and what is sent with them.
import { Fault, type Logger } from '@dormouse/ports';
import kafkajs, { type Admin, type ITopicMetadata } from 'kafkajs';
import { faultOf } from './kafka-client.ts';
import { makeTopics, patiently } from './topic-making.ts';
import { topicNames } from './topic-names.ts';

export interface TopicPlan {
  readonly partitions: number;
  /** Copies of each topic; null for one per broker, three at most. */
  readonly replication: number | null;
  readonly retentionMs: number;
}

/** With three copies, of which two must be in sync, an acknowledged record survives the loss of any one broker. */
const copiesMax = 3;
const messageBytesMin = 2_097_152;
/** Bytes around a record's value: its key, its headers, the batch. */
const aroundValueBytes = 65_536;
const retentionMsMin = 14 * 86_400_000;

export interface CheckedTopics {
  readonly partitions: number;
  /** The largest value that all of the topics take. */
  readonly recordBytesMax: number;
}

/** How many copies new topics get. */
export async function copiesOf(admin: Admin, { replication }: TopicPlan, logger: Logger): Promise<number> {
  const copies = replication ?? Math.min(copiesMax, (await admin.describeCluster()).brokers.length);
  if (copies === 1)
    logger.warn('topics_have_one_copy', {
      detail: 'Topics that are made now have one copy: what its broker loses is lost. Use three brokers in production.',
    });
  return copies;
}

/** Creates what is missing, then checks all. @throws Fault TOPICS_UNFIT, UNAVAILABLE. */
export async function ensureTopics(
  admin: Admin,
  prefix: string,
  logger: Logger,
  { replication, ...plan }: TopicPlan & { readonly replication: number },
): Promise<CheckedTopics> {
  const configEntries = [
    { name: 'retention.ms', value: String(plan.retentionMs) },
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'max.message.bytes', value: String(messageBytesMin) },
    ...(replication >= 3 ? [{ name: 'min.insync.replicas', value: '2' }] : []),
  ];
  const topics = topicNames.map((name) => ({
    topic: prefix + name,
    numPartitions: plan.partitions,
    replicationFactor: replication,
    configEntries,
  }));
  await makeTopics(admin, topics, logger);
  const checked = await patiently(logger, () => checkTopics(admin, prefix, logger)); // another broker may know them
  if (checked.partitions !== plan.partitions)
    throw unfit(
      `The topics have ${checked.partitions} partitions, and ${plan.partitions} are wanted. A count is never changed: use ${checked.partitions}, or another prefix.`,
    ); // (T1)
  return checked;
}

/** @throws Fault TOPICS_UNFIT with the remedy, UNAVAILABLE. */
export async function checkTopics(admin: Admin, prefix: string, logger: Logger): Promise<CheckedTopics> {
  const topics = topicNames.map((name) => prefix + name);
  try {
    const described = await describedTopics(admin, topics);
    const counts = new Set(described.map(({ partitions }) => partitions.length));
    const [count] = counts;
    if (counts.size !== 1 || count === undefined) {
      const each = described.map(({ name, partitions }) => `${name} ${partitions.length}`).toSorted();
      throw unfit(
        `The topics of one prefix must have one number of partitions; these have: ${each.join(', ')}. Somebody changed one by hand: make new topics under another DORMOUSE_KAFKA_PREFIX.`,
      );
    }
    const recordBytesMax = await checkMessageBytes(admin, topics);
    await checkOffsetRetention(admin, await checkRetention(admin, topics), logger);
    return { partitions: count, recordBytesMax };
  } catch (error) {
    throw error instanceof Fault ? error : faultOf(error);
  }
}

async function describedTopics(admin: Admin, names: readonly string[]): Promise<readonly ITopicMetadata[]> {
  try {
    return (await admin.fetchTopicMetadata({ topics: [...names] })).topics;
  } catch (error) {
    if ((error as { readonly type?: string }).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    const there = new Set(await admin.listTopics());
    const missing = names.filter((name) => !there.has(name));
    if (missing.length === 0) throw error; // one broker knows them already, another does not
    throw unfit(`These topics are missing: ${missing.join(', ')}. Make them with: npm run setup`, error);
  }
}

/** The longest time that records are kept, as far as it is limited. (T2) */
async function checkRetention(admin: Admin, topics: readonly string[]): Promise<number> {
  const { TOPIC: type } = kafkajs.ConfigResourceTypes;
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type, name, configNames: ['retention.ms'] })),
  });
  let keptMsMax = retentionMsMin;
  for (const { resourceName, configEntries } of described.resources) {
    const keptMs = Number(configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue ?? -1);
    if (keptMs >= 0 && keptMs < retentionMsMin)
      throw unfit(
        `${resourceName} keeps its records for ${keptMs} ms. Set its retention.ms to ${retentionMsMin} or more.`,
      );
    keptMsMax = Math.max(keptMsMax, keptMs);
  }
  return keptMsMax;
}

/** (T4) */
async function checkMessageBytes(admin: Admin, topics: readonly string[]): Promise<number> {
  const { TOPIC: type } = kafkajs.ConfigResourceTypes;
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type, name, configNames: ['max.message.bytes'] })),
  });
  let least = Number.POSITIVE_INFINITY;
  for (const { resourceName, configEntries } of described.resources) {
    const bytes = Number(configEntries.find(({ configName }) => configName === 'max.message.bytes')?.configValue);
    if (bytes < messageBytesMin)
      throw unfit(`${resourceName} takes messages of ${bytes} bytes. Set its max.message.bytes to ${messageBytesMin}.`);
    least = Math.min(least, bytes);
  }
  return least - aroundValueBytes;
}

const offsetRetention = 'offsets.retention.minutes';

/** (T3) */
async function checkOffsetRetention(admin: Admin, keptMs: number, logger: Logger): Promise<void> {
  const minutes = await brokerSetting(admin, offsetRetention);
  if (minutes === null) return logger.warn('offset_retention_unknown', { setting: offsetRetention });
  const wanted = Math.ceil(keptMs / 60_000);
  if (Number(minutes) < wanted)
    throw unfit(
      `The brokers forget what a group has finished after ${minutes} minutes, and the topics keep their records for ${wanted}. Set ${offsetRetention} of the brokers to ${wanted} or more, or retention.ms of the topics lower, but not below ${retentionMsMin}.`,
    );
}

/** The setting of any broker; null when the client may not read it. */
async function brokerSetting(admin: Admin, setting: string): Promise<string | null> {
  const { brokers } = await admin.describeCluster();
  const [first] = brokers;
  if (first === undefined) return null;
  const { BROKER: type } = kafkajs.ConfigResourceTypes;
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type, name: String(first.nodeId), configNames: [setting] }],
    });
    return resources[0]?.configEntries.find(({ configName }) => configName === setting)?.configValue ?? null;
  } catch (error) {
    if ((error as { readonly type?: string }).type === 'CLUSTER_AUTHORIZATION_FAILED') return null;
    throw error;
  }
}

const unfit = (detail: string, cause?: unknown): Fault => new Fault('TOPICS_UNFIT', detail, { cause });
