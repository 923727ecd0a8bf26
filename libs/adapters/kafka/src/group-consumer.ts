// One consumer of one topic in one process: hands every record over at once, keeps the watermark of what is finished, and
// commits it. What a record means is not its business.
//
// Invariants:
//   C1. An assignment is (partition, generation of the group). When the group rebalances everything begins anew, also for a
//       partition that comes back; nothing of the old assignment is delivered or committed any more. (B3, V6)
//   C2. A commit carries the generation it belongs to: the coordinator refuses a zombie's.
//   C3. The handler of kafkajs returns at once: nothing a record needs holds up another partition, or a heartbeat.
//   C4. A consumer that kafkajs has given up is built again, with patience, until it is closed.
//   C5. A record that was read and not finished is read again by the next owner: the watermark is committed, not the position.
//   C6. Alive is who makes progress: one that has joined and asks the broker for nothing any more stands still, and says so.
import { Fault, type Assignment, type Logger, type Subscription } from '@dormouse/ports';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultOf, unavailable } from './kafka-client.ts';
import { type GroupMembership, lostCoordinator, type OffsetOfPartition } from './kafkajs-internals.ts';
import { stickyAssigner } from './sticky-assigner.ts';
import { Watermark } from './watermark.ts';

export interface GroupHandlers {
  assigned(assignment: Assignment): void;
  revoked(assignment: Assignment): Promise<void>;
  /** Returns at once; `finish` is called when nothing depends on the record any more. */
  record(assignment: Assignment, record: KafkaMessage, finish: () => void): void;
  /** True while no more is wanted. */
  busy(): boolean;
}

export interface GroupOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topic: string;
  readonly sessionTimeoutMs: number;
  readonly logger: Logger;
}

export interface GroupConsumer extends Subscription {
  /** Partitions of the present assignment. */
  owned(): ReadonlySet<number>;
  /** Null, or why it is not working. */
  problem(): string | null;
  /** Null, or what says that it never will again by itself: whoever can should start this process anew. (C6) */
  stalled(): string | null;
}

interface Claim extends Assignment {
  readonly watermark: Watermark;
  revoked: boolean;
  /** Something was finished since the last commit. */
  dirty: boolean;
}

const commitEveryMs = 250;
/** Every fetch ends within a moment, also one that brings nothing or is paused. Of several brokers all must be silent. */
const sessionsWithoutFetchMax = 3;
const busyPollMs = 10;
const drainPollMs = 5;
const rebuildMsFirst = 250;
const rebuildMsMax = 5_000;
/** What a rebalance waits for work to stop; the group waits longer than this for its members. */
const leavingMsMax = 3_000;

/** A broker that has just started, or a group that is being rearranged: whoever waits to join goes on waiting. */
const isPassing = (error: Error): boolean =>
  /GROUP_LOAD_IN_PROGRESS|COORDINATOR_NOT_AVAILABLE|NOT_COORDINATOR_FOR_GROUP|REBALANCE_IN_PROGRESS/.test(
    String((error as { readonly type?: string }).type),
  );

/** Resolves when this member has joined. @throws Fault UNAVAILABLE when it cannot. */
export async function joinGroup(options: GroupOptions, handlers: GroupHandlers): Promise<GroupConsumer> {
  const consumer = new TopicConsumer(options, handlers);
  await consumer.start();
  return consumer;
}

class TopicConsumer implements GroupConsumer {
  readonly #options: GroupOptions;
  readonly #handlers: GroupHandlers;
  #consumer: Consumer | null = null;
  #membership: GroupMembership | null = null;
  #claims = new Map<number, Claim>();
  #joined = Promise.withResolvers<void>();
  #problem: string | null = 'joining';
  #fetchedAt = 0;
  #committing: Promise<void> | null = null;
  #paused: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(options: GroupOptions, handlers: GroupHandlers) {
    this.#options = options;
    this.#handlers = handlers;
    this.#joined.promise.catch(() => undefined); // heard by `start`, or nobody waits any more
  }

  async start(): Promise<void> {
    await this.#run();
    await this.#joined.promise;
  }

  owned(): ReadonlySet<number> {
    return new Set(this.#claims.keys());
  }

  problem(): string | null {
    return this.#problem ?? this.stalled();
  }

  stalled(): string | null {
    const { topic, sessionTimeoutMs } = this.#options;
    const sinceMs = performance.now() - this.#fetchedAt;
    if (this.#problem !== null || this.#closing || sinceMs < sessionsWithoutFetchMax * sessionTimeoutMs) return null;
    return `The consumer of ${topic} has not come back from the broker for ${Math.round(sinceMs / 1_000)} s.`;
  }

  async close(withinMs: number): Promise<void> {
    this.#closing = true;
    if (this.#paused !== null) clearTimeout(this.#paused);
    const deadline = performance.now() + withinMs;
    const claims = [...this.#claims.values()];
    const stopped = Promise.all(claims.map((claim) => this.#handlers.revoked(claim)));
    await Promise.race([stopped, sleep(withinMs, null, { ref: false })]);
    while (performance.now() < deadline && claims.some(({ watermark }) => watermark.openCount > 0))
      await sleep(drainPollMs);
    await this.#committing;
    await this.#commitNow(claims.filter((claim) => !claim.revoked));
    for (const claim of claims) claim.revoked = true;
    this.#claims.clear();
    await this.#disconnect();
  }

  async #run(): Promise<void> {
    const { kafka, groupId, topic, sessionTimeoutMs } = this.#options;
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(sessionTimeoutMs, leavingMsMax * 2),
      heartbeatInterval: Math.max(100, Math.floor(sessionTimeoutMs / 10)),
      maxWaitTimeInMs: 200,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8, restartOnFailure: async () => false },
      partitionAssigners: [
        stickyAssigner(() => ({ generation: this.#membership?.generationId ?? -1, owned: [...this.#claims.keys()] }), {
          leaving: () => this.#leave(),
          joined: (membership) => this.#join(membership),
        }),
      ],
    });
    this.#consumer = consumer;
    consumer.on(consumer.events.FETCH, () => {
      this.#fetchedAt = performance.now();
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (this.#consumer === consumer) void this.#rebuild(payload.error);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 8,
        eachBatch: (payload) => this.#takeBatch(payload),
      });
    } catch (error) {
      await this.#rebuild(error as Error);
    }
  }

  /** (C4) */
  async #rebuild(error: Error): Promise<void> {
    this.#problem = faultOf(error).message;
    if (!isPassing(error)) this.#joined.reject(unavailable(this.#problem, error));
    this.#options.logger.warn('consumer_lost', { topic: this.#options.topic, reason: error.message });
    await this.#leave();
    await this.#disconnect();
    let delayMs = rebuildMsFirst;
    while (!this.#closing && this.#consumer === null) {
      await sleep(delayMs, null, { ref: false });
      delayMs = Math.min(delayMs * 2, rebuildMsMax);
      if (!this.#closing) await this.#run();
    }
  }

  async #disconnect(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = null;
    this.#membership = null;
    try {
      await consumer?.disconnect();
    } catch (error) {
      // It was lost anyway; the coordinator finds out by its silence.
      this.#options.logger.warn('consumer_not_disconnected', { reason: (error as Error).message });
    }
  }

  /** (C1) */
  async #leave(): Promise<void> {
    const old = [...this.#claims.values()];
    if (old.length === 0) return;
    await this.#commitNow(old.filter(({ dirty }) => dirty));
    for (const claim of old) claim.revoked = true;
    const stopped = Promise.all(old.map((claim) => this.#handlers.revoked(claim)));
    await Promise.race([stopped, sleep(leavingMsMax, null, { ref: false })]);
  }

  async #join(membership: GroupMembership): Promise<void> {
    this.#membership = membership;
    this.#claims = new Map();
    const partitions = membership.subscriptionState.assigned().flatMap((assigned) => assigned.partitions);
    const { generationId: generation } = membership;
    for (const { partition, offset, metadata } of await this.#committed(membership, partitions)) {
      const from = Math.max(0, Number(offset));
      const watermark = new Watermark(from, metadata ?? null);
      const claim: Claim = { partition, generation, watermark, revoked: false, dirty: false };
      this.#claims.set(partition, claim);
      this.#handlers.assigned(claim);
    }
    this.#fetchedAt = performance.now();
    this.#problem = null;
    this.#joined.resolve();
  }

  async #committed(membership: GroupMembership, partitions: readonly number[]): Promise<readonly OffsetOfPartition[]> {
    if (partitions.length === 0) return [];
    const { topic } = this.#options;
    const topics = [{ topic, partitions: partitions.map((partition) => ({ partition })) }];
    const { responses } = await membership.coordinator.offsetFetch({ groupId: membership.groupId, topics });
    return responses.flatMap((response) => response.partitions);
  }

  /** (C3) */
  async #takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const claim = this.#claims.get(batch.partition);
    if (claim === undefined) return;
    for (const message of batch.messages) {
      if (claim.revoked || this.#closing) return;
      if (this.#handlers.busy()) return this.#pause();
      const offset = Number(message.offset);
      const isNew = claim.watermark.deliver(offset);
      payload.resolveOffset(message.offset);
      if (isNew) this.#handlers.record(claim, message, () => this.#finish(claim, offset));
    }
  }

  /** Until somebody wants more: nothing is fetched, heartbeats go on. */
  #pause(): void {
    if (this.#paused !== null) return;
    this.#consumer?.pause([{ topic: this.#options.topic }]);
    const look = (): void => {
      this.#paused = null;
      if (this.#closing) return;
      if (this.#handlers.busy()) this.#paused = setTimeout(look, busyPollMs);
      else this.#consumer?.resume([{ topic: this.#options.topic }]);
    };
    this.#paused = setTimeout(look, busyPollMs);
  }

  #finish(claim: Claim, offset: number): void {
    if (claim.revoked || !claim.watermark.finish(offset)) return;
    claim.dirty = true;
    this.#committing ??= this.#commitLoop();
  }

  async #commitLoop(): Promise<void> {
    for (;;) {
      await sleep(commitEveryMs);
      const dirty = [...this.#claims.values()].filter((claim) => claim.dirty && !claim.revoked);
      if (dirty.length === 0) break;
      await this.#commitNow(dirty);
    }
    this.#committing = null;
  }

  /** One request for all of them; what fails is committed with the next, or read again by the next owner. (C2, C5) */
  async #commitNow(claims: readonly Claim[]): Promise<void> {
    const membership = this.#membership;
    const [first] = claims;
    if (membership === null || first === undefined) return;
    const { topic, groupId, logger } = this.#options;
    for (const claim of claims) claim.dirty = false;
    const partitions = claims.map(({ partition, watermark }) => {
      const { offset, metadata } = watermark.commit();
      return { partition, offset: String(offset), metadata };
    });
    try {
      await membership.coordinator.offsetCommit({
        groupId,
        memberId: membership.memberId,
        groupGenerationId: first.generation,
        topics: [{ topic, partitions }],
      });
    } catch (error) {
      for (const claim of claims) claim.dirty = true;
      logger.warn('offsets_not_committed', { topic, reason: (error as Error).message });
      if (lostCoordinator(error)) await this.#findCoordinator(membership);
    }
  }

  async #findCoordinator(membership: GroupMembership): Promise<void> {
    try {
      membership.coordinator = await membership.cluster.findGroupCoordinator({ groupId: membership.groupId });
    } catch (error) {
      if (error instanceof Fault) throw error;
      // The broker is away: the fetch loop of kafkajs notices too, and the group is joined again.
    }
  }
}
