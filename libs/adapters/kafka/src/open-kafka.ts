// Opens both buses of the cluster topology over one Kafka.
import {
  createPartitioner,
  type InputBus,
  type Logger,
  type Metrics,
  noMetrics,
  type PartitionLoad,
  type ThreadKey,
  type WorkBus,
} from '@dormouse/ports';
import type { Admin, Kafka, PartitionerArgs, SASLOptions } from 'kafkajs';
import type { ConnectionOptions } from 'node:tls';
import { createBrokerProbe } from './broker-probe.ts';
import { type GroupConsumer, type GroupHandlers, joinGroup } from './group-consumer.ts';
import { groupLagOf, type GroupLag } from './group-lags.ts';
import { type BusIdentity, clusterName, marksUnder, putMark } from './installation-mark.ts';
import { createClient, faultOf, soonAgain } from './kafka-client.ts';
import { createInputBus } from './kafka-input-bus.ts';
import { createWorkBus } from './kafka-work-bus.ts';
import { createRecordSender } from './record-sender.ts';
import { type TopicName, topicNames } from './topic-names.ts';
import { type CheckedTopics, checkTopics, copiesOf, ensureTopics, type TopicPlan } from './topics.ts';

export interface KafkaOptions {
  readonly brokers: readonly string[];
  /** Prefix of topics and groups: one installation, one prefix. */
  readonly prefix: string;
  readonly clientId: string;
  readonly ssl?: ConnectionOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  /** A process that is silent for this long counts as dead, and its partitions go to others. */
  readonly sessionTimeoutMs?: number | undefined;
  readonly workInFlightMax?: number | undefined;
  readonly workHeldMax?: number | undefined;
  /** Creates missing topics; without it a missing topic is a fault. */
  readonly makeTopics?: TopicPlan | undefined;
  readonly logger: Logger;
  /** Default: none. */
  readonly metrics?: Metrics | undefined;
}

export interface KafkaBus {
  readonly inputs: InputBus;
  readonly work: WorkBus;
  readonly partitions: {
    readonly count: number;
    of(key: ThreadKey): number;
    /** Partitions of `inputs` that this process owns now. */
    owned(): ReadonlySet<number>;
  };
  readonly identity: BusIdentity;
  /** What the consumers of this process have in hand. */
  load(): Promise<readonly PartitionLoad[]>;
  /** What each consumer group has not finished, of all processes. @throws Fault UNAVAILABLE. */
  lags(): Promise<readonly GroupLag[]>;
  /** Installations that have marked these topics; exactly one, once they are set up. @throws Fault UNAVAILABLE. */
  marks(): Promise<readonly string[]>;
  /** Marks the topics as this installation's. @throws Fault UNAVAILABLE. */
  mark(installation: string): Promise<void>;
  /** Null, or why a topic that has a consumer is not being consumed now. */
  problem(): string | null;
  /** Null, or why no broker answers now. */
  unreachable(): Promise<string | null>;
  /** Null, or why a consumer will never work again by itself: it is stalled. */
  stalled(): string | null;
  close(): Promise<void>;
}

const groupNames: Readonly<Record<TopicName, string>> = {
  inputs: 'thread-processor',
  dispatches: 'tool-dispatcher',
  notices: 'notifier',
};

/** Every record names its partition: kafkajs never chooses one. */
function partitionGiven({ message }: PartitionerArgs): number {
  if (message.partition === undefined) throw new Error('a record without its partition');
  return message.partition;
}

/** @throws Fault UNAVAILABLE, TOPICS_UNFIT. */
export async function openKafka(options: KafkaOptions): Promise<KafkaBus> {
  const { prefix, logger, metrics = noMetrics } = options;
  const times = (operation: string) => metrics.histogram('dormouse_store_duration_seconds', 'kafka', operation);
  const kafka = createClient(options);
  const {
    cluster,
    copies,
    partitions: count,
    recordBytesMax,
  } = await withAdmin(kafka, async (admin) => ({
    ...(await preparedTopics(options, admin)),
    cluster: await clusterName(admin),
  }));
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: () => partitionGiven,
    retry: soonAgain,
  });
  try {
    await producer.connect();
  } catch (error) {
    await producer.disconnect();
    throw faultOf(error);
  }
  const sender = createRecordSender(producer, recordBytesMax, times('produce'));
  const probe = createBrokerProbe(kafka, `${prefix}inputs`);
  const partitionOf = createPartitioner(count);
  const consumers = new Map<TopicName, Set<GroupConsumer>>();

  async function join(name: TopicName, handlers: GroupHandlers): Promise<GroupConsumer> {
    const groupId = prefix + groupNames[name];
    const sessionTimeoutMs = options.sessionTimeoutMs ?? 8_000;
    const commitTimes = times('commit');
    const group = { kafka, groupId, topic: prefix + name, sessionTimeoutMs, logger, commitTimes };
    const consumer = await joinGroup(group, handlers);
    const ours = consumers.get(name) ?? new Set();
    consumers.set(name, ours.add(consumer));
    return {
      owned: () => consumer.owned(),
      load: () => consumer.load(),
      problem: () => consumer.problem(),
      stalled: () => consumer.stalled(),
      close: async (withinMs) => {
        ours.delete(consumer);
        await consumer.close(withinMs);
      },
    };
  }

  const firstOf = (said: (consumer: GroupConsumer) => string | null): string | null =>
    [...consumers.values()].flatMap((ours) => [...ours].flatMap((consumer) => said(consumer) ?? []))[0] ?? null;

  return {
    inputs: createInputBus({
      topic: `${prefix}inputs`,
      ...{ sender, partitionOf, logger },
      join: (handlers) => join('inputs', handlers),
    }),
    work: createWorkBus({
      topicOf: (name) => prefix + name,
      ...{ sender, partitionOf, join, logger },
      inFlightMax: options.workInFlightMax ?? 1_024,
      heldMax: options.workHeldMax ?? 32_768,
    }),
    partitions: {
      count,
      of: partitionOf,
      owned: () => new Set([...(consumers.get('inputs') ?? [])].flatMap((consumer) => [...consumer.owned()])),
    },
    identity: { cluster, prefix, partitions: count },
    load: async () => {
      const all = [...consumers].flatMap(([topic, ours]) => [...ours].map((each) => loadOf(topic, each)));
      return (await Promise.all(all)).flat();
    },
    lags: () =>
      withAdmin(kafka, (admin) =>
        Promise.all(topicNames.map((topic) => groupLagOf(admin, prefix, { topic, group: prefix + groupNames[topic] }))),
      ),
    marks: () => withAdmin(kafka, (admin) => marksUnder(admin, prefix)),
    mark: (installation) =>
      withAdmin(kafka, (admin) => putMark(admin, { prefix, installation, replication: copies }, logger)),
    problem: () => firstOf((consumer) => consumer.problem()),
    unreachable: () => probe.problem(),
    stalled: () => firstOf((consumer) => consumer.stalled()),
    close: async () => {
      await probe.close();
      for (const ours of consumers.values()) for (const consumer of ours) await consumer.close(0);
      await sender.close();
    },
  };
}

async function loadOf(topic: TopicName, consumer: GroupConsumer): Promise<readonly PartitionLoad[]> {
  return (await consumer.load()).map((load) => ({ topic, ...load }));
}

async function preparedTopics(
  { prefix, makeTopics, logger }: KafkaOptions,
  admin: Admin,
): Promise<CheckedTopics & { readonly copies: number }> {
  if (makeTopics === undefined) return { ...(await checkTopics(admin, prefix, logger)), copies: 1 };
  const copies = await copiesOf(admin, makeTopics, logger);
  return { ...(await ensureTopics(admin, prefix, logger, { ...makeTopics, replication: copies })), copies };
}

async function withAdmin<Result>(kafka: Kafka, work: (admin: Admin) => Promise<Result>): Promise<Result> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } catch (error) {
    throw faultOf(error);
  } finally {
    await admin.disconnect();
  }
}
