// Kafka brokers in memory, behind the consumer of the real kafkajs: its runner, its fetchers and its groups are the
// real ones, and so are the patches. The spec decides what a broker answers, and when.
import type { Consumer, ConsumerConfig, Kafka } from 'kafkajs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OffsetOfPartition } from '../kafkajs-internals.ts';

const require = createRequire(import.meta.url);
const createConsumer = require('kafkajs/src/consumer') as (config: object) => Consumer;
const { Kafka: RealKafka, logLevel } = require('kafkajs') as {
  readonly Kafka: new (config: object) => { logger(): unknown };
  readonly logLevel: { readonly NOTHING: number };
};

export const topic = 'rap.inputs';
const sessionMs = 2_000;

interface StoredRecord {
  readonly offset: string;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: object;
  readonly batchContext: { readonly partitionLeaderEpoch: number };
  /** The mark of a transaction, which kafkajs gives to no consumer. */
  readonly isControlRecord: boolean;
}

interface FetchRequest {
  readonly maxWaitTime: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface JoinRequest {
  readonly memberId: string;
  readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

interface Member {
  joining: PromiseWithResolvers<unknown> | null;
  metadata: Buffer;
  protocol: string;
  seenAt: number;
}

const protocolError = (type: string, retriable = true): Error =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable });

const brokenConnection = (): Error =>
  Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionError', retriable: true });

export class BrokersInMemory {
  /** Node that leads each partition. */
  readonly leaders: number[];
  readonly committed = new Map<number, OffsetOfPartition>();
  /** Thrown once by the next fetch of a node. */
  readonly failing = new Map<number, Error>();
  /** How many of the next joins throw it. */
  refusedJoins = 0;
  /** Connections that end while one of the next joins is under way. */
  brokenJoins = 0;
  /** Connections that end while one of the next requests for committed offsets is under way. */
  brokenOffsetFetches = 0;
  generation = 0;
  /** Epoch of the leaders that write from now on. */
  leaderEpoch = 0;
  readonly #logs: { begin: number; records: StoredRecord[] }[];
  #waiting: (() => void)[] = [];
  #members = new Map<string, Member>();
  #minted = 0;
  #assignment = Promise.withResolvers<readonly { memberId: string; memberAssignment: Buffer }[]>();
  #isRebalancing = false;

  constructor(leaders: readonly number[]) {
    this.leaders = [...leaders];
    this.#logs = leaders.map(() => ({ begin: 0, records: [] }));
  }

  /** Members that the coordinator knows, including those that their process has forgotten. */
  get memberCount(): number {
    return this.#members.size;
  }

  append(partition: number, ...values: readonly string[]): void {
    const log = this.#logOf(partition);
    for (const value of values) {
      log.records.push(this.#recordAt(this.#endOf(partition), value));
    }
    this.wake();
  }

  /** A record that ends a transaction. */
  appendMark(partition: number): void {
    this.#logOf(partition).records.push({ ...this.#recordAt(this.#endOf(partition), ''), isControlRecord: true });
    this.wake();
  }

  /** The log loses everything from this offset on, as if its broker came back without the tail. */
  cutTail(partition: number, from: number): void {
    const log = this.#logOf(partition);
    log.records = log.records.slice(0, from - log.begin);
  }

  /** Retention removes everything before this offset. */
  removeBefore(partition: number, offset: number): void {
    const log = this.#logOf(partition);
    log.records = log.records.slice(offset - log.begin);
    log.begin = offset;
  }

  /** The log continues at this offset; the offsets from its present end up to it are missing. */
  leaveOut(partition: number, upTo: number, value: string): void {
    this.#logOf(partition).records.push(this.#recordAt(upTo, value));
    this.wake();
  }

  /** Another copy of the log leads, which has the missing records from this offset on. */
  putBack(partition: number, from: number, ...values: readonly string[]): void {
    const log = this.#logOf(partition);
    log.records.push(...values.map((value, index) => this.#recordAt(from + index, value)));
    log.records.sort((left, right) => Number(left.offset) - Number(right.offset));
    this.wake();
  }

  /** Long polls are answered now. */
  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  kafka(): Kafka {
    const logger = new RealKafka({ clientId: 'spec', brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING }).logger();
    const consumer = (config: ConsumerConfig): Consumer =>
      createConsumer({ cluster: this.#cluster(), logger, metadataMaxAge: 300_000, ...config });
    return { consumer } as unknown as Kafka;
  }

  #logOf(partition: number): { begin: number; records: StoredRecord[] } {
    const log = this.#logs[partition];
    if (log === undefined) throw new RangeError(`no partition ${partition}`);
    return log;
  }

  #recordAt(offset: number, value: string): StoredRecord {
    return {
      offset: String(offset),
      key: Buffer.from('acme:thr_1'),
      value: Buffer.from(value),
      headers: {},
      batchContext: { partitionLeaderEpoch: this.leaderEpoch },
      isControlRecord: false,
    };
  }

  #endOf(partition: number): number {
    const { begin, records } = this.#logOf(partition);
    return records.length === 0 ? begin : Number(records.at(-1)?.offset) + 1;
  }

  #cluster(): object {
    const committedOffsets = {};
    return {
      connect: async () => {},
      disconnect: async () => {},
      isConnected: () => true,
      refreshMetadata: async () => {},
      refreshMetadataIfNecessary: async () => {},
      addMultipleTargetTopics: async () => {},
      addTargetTopic: async () => {},
      removeBroker: () => {},
      findTopicPartitionMetadata: () =>
        this.leaders.map((leader, partitionId) => ({ partitionId, leader, offlineReplicas: [] })),
      getNodeIds: () => [...new Set(this.leaders)].map(String),
      findBroker: async ({ nodeId }: { readonly nodeId: string }) => ({
        nodeId,
        isConnected: () => true,
        fetch: (request: FetchRequest) => this.#fetch(Number(nodeId), request),
      }),
      findGroupCoordinator: async () => this.#coordinator(),
      defaultOffset: ({ fromBeginning }: { readonly fromBeginning: boolean }) => (fromBeginning ? -2 : -1),
      committedOffsets: () => committedOffsets,
      fetchTopicsOffset: async (
        topics: readonly { readonly partitions: readonly { readonly partition: number }[]; fromBeginning: boolean }[],
      ) =>
        topics.map(({ partitions, fromBeginning }) => ({
          topic,
          partitions: partitions.map(({ partition }) => ({
            partition,
            offset: String(fromBeginning ? this.#logOf(partition).begin : this.#endOf(partition)),
          })),
        })),
    };
  }

  async #fetch(node: number, request: FetchRequest): Promise<unknown> {
    await sleep(1); // never within one tick of the event loop
    const failure = this.failing.get(node);
    this.failing.delete(node);
    if (failure !== undefined) throw failure;
    const answers = this.#answer(request);
    if (answers.some(({ partitions }) => partitions.some(({ messages }) => messages.length > 0)))
      return { responses: answers };
    await Promise.race([
      sleep(request.maxWaitTime, null, { ref: false }),
      new Promise<void>((resolve) => this.#waiting.push(resolve)),
    ]);
    return { responses: this.#answer(request) };
  }

  #answer({ topics }: FetchRequest) {
    return topics.map(({ topic: topicName, partitions }) => ({
      topicName,
      partitions: partitions.map(({ partition, fetchOffset }) => {
        const from = Number(fetchOffset);
        const { begin, records } = this.#logOf(partition);
        if (from < begin || from > this.#endOf(partition))
          throw Object.assign(new Error('The requested offset is not within the range'), {
            ...{ name: 'KafkaJSOffsetOutOfRange', type: 'OFFSET_OUT_OF_RANGE', retriable: true, topic, partition },
          });
        const messages = records.filter(({ offset }) => Number(offset) >= from);
        return { partition, highWatermark: String(this.#endOf(partition)), abortedTransactions: [], messages };
      }),
    }));
  }

  #coordinator(): object {
    return {
      nodeId: 1,
      isConnected: () => true,
      joinGroup: (request: JoinRequest) => this.#joinGroup(request),
      syncGroup: async ({
        memberId,
        groupAssignment,
      }: {
        readonly memberId: string;
        readonly groupAssignment: readonly { memberId: string; memberAssignment: Buffer }[];
      }) => {
        if (groupAssignment.length > 0) this.#assignment.resolve(groupAssignment);
        const assignment = await this.#assignment.promise;
        return { memberAssignment: assignment.find((each) => each.memberId === memberId)?.memberAssignment };
      },
      heartbeat: async ({ memberId }: { readonly memberId: string }) => {
        const member = this.#members.get(memberId);
        if (member === undefined) throw protocolError('UNKNOWN_MEMBER_ID');
        member.seenAt = performance.now();
        if (this.#isRebalancing) throw protocolError('REBALANCE_IN_PROGRESS');
      },
      leaveGroup: async ({ memberId }: { readonly memberId: string }) => {
        this.#members.delete(memberId);
        this.#rebalance();
      },
      offsetCommit: async ({
        groupGenerationId,
        topics,
      }: {
        readonly groupGenerationId: number;
        readonly topics: readonly { readonly partitions: readonly OffsetOfPartition[] }[];
      }) => {
        if (groupGenerationId !== this.generation) throw protocolError('ILLEGAL_GENERATION', false);
        for (const each of topics.flatMap(({ partitions }) => partitions)) this.committed.set(each.partition, each);
      },
      offsetFetch: async ({
        topics,
      }: {
        readonly topics: readonly { readonly partitions: readonly { readonly partition: number }[] }[];
      }) => {
        if (this.brokenOffsetFetches > 0) {
          this.brokenOffsetFetches -= 1;
          throw brokenConnection();
        }
        return {
          responses: topics.map(({ partitions }) => ({
            topic,
            partitions: partitions.map(({ partition }) => ({
              partition,
              offset: this.committed.get(partition)?.offset ?? '-1',
              metadata: this.committed.get(partition)?.metadata ?? null,
            })),
          })),
        };
      },
    };
  }

  async #joinGroup({ memberId, groupProtocols }: JoinRequest): Promise<unknown> {
    await sleep(20);
    if (this.refusedJoins > 0) {
      this.refusedJoins -= 1;
      throw protocolError('GROUP_AUTHORIZATION_FAILED', false);
    }
    if (this.brokenJoins > 0) {
      this.brokenJoins -= 1;
      throw brokenConnection();
    }
    const id = memberId === '' ? `member-${(this.#minted += 1)}` : memberId;
    const [{ name: protocol, metadata } = { name: '', metadata: Buffer.alloc(0) }] = groupProtocols;
    const joining = Promise.withResolvers<unknown>();
    this.#members.set(id, { joining, metadata, protocol, seenAt: performance.now() });
    this.#rebalance();
    return joining.promise;
  }

  /** Waits for all members to join again; those that are silent for a session are forgotten. */
  #rebalance(): void {
    if (this.#isRebalancing) return this.#complete();
    this.#isRebalancing = true;
    this.#complete();
    void this.#forgetSilent();
  }

  async #forgetSilent(): Promise<void> {
    while (this.#isRebalancing) {
      await sleep(20, null, { ref: false });
      const now = performance.now();
      for (const [id, { joining, seenAt }] of this.#members)
        if (joining === null && now - seenAt > sessionMs) this.#members.delete(id);
      this.#complete();
    }
  }

  #complete(): void {
    const all = [...this.#members];
    if (all.some(([, { joining }]) => joining === null)) return;
    this.#isRebalancing = false;
    this.generation += 1;
    this.#assignment = Promise.withResolvers();
    const [leaderId = ''] = all[0] ?? [];
    for (const [memberId, member] of all) {
      member.joining?.resolve({
        generationId: this.generation,
        ...{ leaderId, memberId, groupProtocol: member.protocol },
        members:
          memberId === leaderId ? all.map(([id, { metadata }]) => ({ memberId: id, memberMetadata: metadata })) : [],
      });
      member.joining = null;
      member.seenAt = performance.now();
    }
  }
}

export const notLeader = (): Error => protocolError('NOT_LEADER_FOR_PARTITION');

/** kafkajs finds an assigned partition missing in the metadata, and one fetcher joins the group anew inside itself. */
export const staleAssignment = (): Error =>
  Object.assign(new Error('Topic has been reassigned'), {
    ...{ name: 'KafkaJSStaleTopicMetadataAssignment', retriable: false, topic, unknownPartitions: [] },
  });
