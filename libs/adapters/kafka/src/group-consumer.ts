// One consumer of one topic in one process: delivers every record at once, keeps the watermark of the finished records,
// and commits it. It does not know what a record means.
//
// Invariants:
//   C1. A claim is one assignment of one partition. A rebalance of the group ends every claim, also of a partition that
//       stays here; nothing of the old claim is delivered or committed any more. (input-bus B3, simulator V6)
//   C2. A commit carries the generation it belongs to: the coordinator refuses a zombie's.
//   C3. The handler of kafkajs returns at once: no record delays another partition, or a heartbeat.
//   C4. A consumer that kafkajs has given up, or whose join has failed, is built again, with backoff, until it is
//       closed. One consumer of kafkajs at a time: the next one is built when the last one is disconnected; otherwise
//       the last one would stay a member of the group that delivers nothing.
//   C5. The commit holds the watermark, not the position: the next owner reads again what was read and not finished.
//   C6. A consumer that has joined and does not fetch any more is stalled, and reports it.
//   C7. A batch belongs to the positions that it was fetched with: a claim takes only batches of its own.
//       An answer of the previous broker that comes late is dropped, and its records are fetched again.
//   C8. Where the log ends before the next offset (its tail is lost), or begins behind it (retention), the claim ends,
//       an error names partition and offsets, and a new claim begins at what is there.
//   C9. Where offsets are missing between two records, the claim stops before them: it reports the gap, never commits
//       over it, and reads again from there. Only a newer leader epoch behind the gap proves that the offsets are lost;
//       what is unfinished before them stays unfinished.
//   C10. No two claims of a process have the same partition and generation: a group may restart its count, and one
//       generation may see two claims of a partition. (C8)
//   C11. A leader that moves ends no claim: the partition goes on with the new one. (kafkajs-internals P11)
import {
  Fault,
  type Assignment,
  type Histogram,
  type Logger,
  type PartitionLoad,
  type Subscription,
} from '@dormouse/ports';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultOf, soonAgain, unavailable } from './kafka-client.ts';
import {
  epochOf,
  fetchOf,
  type FetchOfBatch,
  type GroupMembership,
  lostCoordinator,
  type OffsetOfPartition,
  type Positions,
} from './kafkajs-internals.ts';
import { isPassing } from './passing-error.ts';
import { stickyAssigner } from './sticky-assigner.ts';
import { Watermark } from './watermark.ts';

export interface GroupHandlers {
  assigned(assignment: Assignment): void;
  revoked(assignment: Assignment): Promise<void>;
  /** Returns at once; `finish` is called when nothing depends on the record. `isAgain`: an earlier owner had it. */
  record(assignment: Assignment, record: KafkaMessage, finish: () => void, isAgain: boolean): void;
  /** True while no more records are wanted. */
  busy(): boolean;
}

export interface GroupOptions {
  readonly kafka: Kafka;
  readonly groupId: string;
  readonly topic: string;
  readonly sessionTimeoutMs: number;
  readonly logger: Logger;
  /** Of the commits of offsets. */
  readonly commitTimes: Histogram;
}

export interface GroupConsumer extends Subscription {
  /** Partitions of the present assignment. */
  owned(): ReadonlySet<number>;
  /** What it has in hand, by partition; the ends of the logs are asked for. */
  load(): Promise<readonly Omit<PartitionLoad, 'topic'>[]>;
  /** Null, or why the consumer does not work now. */
  problem(): string | null;
  /** Null, or why the consumer will never work again by itself: this process has to be restarted. (C6) */
  stalled(): string | null;
}

interface Claim extends Assignment {
  /** The generation as the coordinator counts it. (C2) */
  readonly groupGeneration: number;
  watermark: Watermark;
  /** (C7) */
  readonly positions: Positions | null;
  /** False until the first batch of a partition without a committed offset shows where its log begins. */
  isPlaced: boolean;
  /** Leader epoch of the newest record that was taken, null before the first. (C9) */
  epoch: number | null;
  /** Null, or the gap that the claim stops before. (C9) */
  missing: string | null;
  revoked: boolean;
  /** A record was finished since the last commit. */
  dirty: boolean;
  /** Where the log ended when it was last looked at. */
  end: number;
}

const commitEveryMs = 250;
/** Every fetch ends soon, also an empty or paused one. With several brokers, all of them must be silent. */
const sessionsWithoutFetchMax = 3;
const busyPollMs = 10;
const drainPollMs = 5;
const rebuildMsFirst = 250;
const rebuildMsMax = 5_000;
/** Time between two checks of a log whose brokers do not answer. */
const lookAgainMs = 250;
/** How long a rebalance waits for work to stop; the group waits longer than this for its members. */
const leavingMsMax = 3_000;

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
  /** Generation of the newest claims. (C10) */
  #generation = -1;
  readonly #joined = Promise.withResolvers<void>();
  #problem: string | null = 'joining';
  #fetchedAt = 0;
  #committing: Promise<void> | null = null;
  #paused: NodeJS.Timeout | null = null;
  /** True once no more records are taken. */
  #isClosed = false;
  /** Aborted when the consumer has to leave its group. */
  readonly #closing = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: GroupOptions, handlers: GroupHandlers) {
    this.#options = options;
    this.#handlers = handlers;
  }

  /** @throws Fault UNAVAILABLE when the first join fails: nothing of this consumer is left in the group then. */
  async start(): Promise<void> {
    this.#ended = this.#consume();
    try {
      await this.#joined.promise;
    } catch (error) {
      this.#isClosed = true;
      this.#closing.abort();
      await this.#ended;
      throw error;
    }
  }

  owned(): ReadonlySet<number> {
    return new Set(this.#claims.keys());
  }

  async load(): Promise<readonly Omit<PartitionLoad, 'topic'>[]> {
    const claims = [...this.#claims.values()];
    await this.#lookAtEnds(claims);
    const now = Date.now();
    return claims.map(({ partition, watermark, end }) => ({
      partition,
      lag: Math.max(0, end - watermark.low),
      inFlight: watermark.openCount,
      oldestMs: Math.max(0, now - (watermark.oldestAt ?? now)),
    }));
  }

  /** Brokers that do not answer leave the ends as they were known. */
  async #lookAtEnds(claims: readonly Claim[]): Promise<void> {
    const membership = this.#membership;
    if (membership === null || claims.length === 0) return;
    const { topic } = this.#options;
    const partitions = claims.map(({ partition }) => ({ partition }));
    try {
      const [found] = await membership.cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning: false }]);
      for (const { partition, offset } of found?.partitions ?? []) {
        const claim = claims.find((each) => each.partition === partition);
        if (claim !== undefined) claim.end = Math.max(claim.end, Number(offset));
      }
    } catch {
      // The consumer's own requests report an outage.
    }
  }

  problem(): string | null {
    const standing = [...this.#claims.values()].find(({ missing }) => missing !== null);
    return this.#problem ?? this.stalled() ?? standing?.missing ?? null;
  }

  stalled(): string | null {
    const { topic, sessionTimeoutMs } = this.#options;
    const sinceMs = performance.now() - this.#fetchedAt;
    if (this.#problem !== null || this.#isClosed || sinceMs < sessionsWithoutFetchMax * sessionTimeoutMs) return null;
    return `The consumer of ${topic} has not come back from the broker for ${Math.round(sinceMs / 1_000)} s.`;
  }

  async close(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    const claims = [...this.#claims.values()];
    this.#isClosed = true;
    this.#endPause();
    const stopped = Promise.all(claims.map((claim) => this.#handlers.revoked(claim)));
    await Promise.race([stopped, sleep(withinMs, null, { ref: false })]);
    while (performance.now() < deadline && claims.some(({ watermark }) => watermark.openCount > 0))
      await sleep(drainPollMs);
    await this.#committing;
    await this.#commitNow(claims.filter(({ revoked, isPlaced }) => !revoked && isPlaced));
    for (const claim of claims) claim.revoked = true;
    this.#claims.clear();
    this.#closing.abort();
    await Promise.race([this.#ended, sleep(Math.max(leavingMsMax, withinMs), null, { ref: false })]);
  }

  /** Builds one consumer after the other. (C4) */
  async #consume(): Promise<void> {
    const { signal } = this.#closing;
    for (let delayMs = rebuildMsFirst; !signal.aborted; delayMs = Math.min(delayMs * 2, rebuildMsMax)) {
      const error = await this.#consumeUntilLost();
      if (signal.aborted) return;
      if (this.#problem === null) delayMs = rebuildMsFirst; // it had joined
      this.#problem = faultOf(error).message;
      if (!isPassing(error)) this.#joined.reject(unavailable(this.#problem, error));
      this.#options.logger.warn('consumer_lost', { topic: this.#options.topic, reason: error.message });
      await sleep(delayMs, null, { ref: false, signal }).catch(() => undefined); // closed meanwhile
    }
  }

  /** Resolves with the reason when the consumer is lost, or closed; by then it is disconnected. */
  async #consumeUntilLost(): Promise<Error> {
    const { kafka, groupId, topic, sessionTimeoutMs } = this.#options;
    const { signal } = this.#closing;
    const lost = Promise.withResolvers<Error>();
    const end = (): void => lost.resolve(unavailable('The consumer is closed.'));
    signal.addEventListener('abort', end, { once: true });
    const consumer = kafka.consumer({
      groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: Math.max(sessionTimeoutMs, leavingMsMax * 2),
      heartbeatInterval: Math.max(100, Math.floor(sessionTimeoutMs / 10)),
      maxWaitTimeInMs: 200,
      allowAutoTopicCreation: false,
      retry: { ...soonAgain, restartOnFailure: async () => false },
      partitionAssigners: [
        stickyAssigner(() => ({ generation: this.#membership?.generationId ?? -1, owned: [...this.#claims.keys()] }), {
          leaving: () => this.#leave(),
          joined: (membership) => this.#join(membership),
          joinFailed: (error) => lost.resolve(error), // (C4)
          outOfRange: (partition) => this.#outOfRange(partition),
        }),
      ],
    });
    consumer.on(consumer.events.FETCH, () => {
      this.#fetchedAt = performance.now();
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => lost.resolve(payload.error));
    this.#consumer = consumer;
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 8,
        eachBatch: (payload) => this.#takeBatch(payload),
      });
      return await lost.promise;
    } catch (error) {
      return error as Error;
    } finally {
      signal.removeEventListener('abort', end);
      this.#endPause();
      await this.#leave();
      await this.#disconnect(consumer);
    }
  }

  async #disconnect(consumer: Consumer): Promise<void> {
    this.#consumer = null;
    try {
      await consumer.disconnect();
    } catch (error) {
      // The consumer was lost anyway; its session at the coordinator expires.
      this.#options.logger.warn('consumer_not_disconnected', { reason: (error as Error).message });
    }
    this.#membership = null;
    this.#claims.clear(); // claims of a join that ended meanwhile
  }

  /** (C1) */
  async #leave(): Promise<void> {
    const old = [...this.#claims.values()].filter((claim) => !claim.revoked);
    if (old.length === 0) return;
    await this.#commitNow(old.filter(({ dirty }) => dirty));
    await this.#revoke(old);
  }

  async #revoke(claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) claim.revoked = true;
    const stopped = Promise.all(claims.map((claim) => this.#handlers.revoked(claim)));
    await Promise.race([stopped, sleep(leavingMsMax, null, { ref: false })]);
  }

  async #join(membership: GroupMembership): Promise<void> {
    this.#membership = membership;
    this.#claims = new Map();
    const partitions = membership.subscriptionState.assigned().flatMap((assigned) => assigned.partitions);
    const committed = await this.#committed(membership, partitions);
    if (this.#isClosed) return;
    this.#generation = Math.max(membership.generationId, this.#generation + 1); // (C10)
    for (const { partition, offset, metadata } of committed) {
      const from = Number(offset);
      this.#begin(membership, partition, { from: Math.max(0, from), metadata: metadata ?? null, isPlaced: from >= 0 });
    }
    this.#fetchedAt = performance.now();
    this.#problem = null;
    this.#joined.resolve();
  }

  #begin(
    { generationId: groupGeneration, offsetManager: positions }: GroupMembership,
    partition: number,
    {
      from,
      metadata,
      isPlaced,
    }: { readonly from: number; readonly metadata: string | null; readonly isPlaced: boolean },
  ): Claim {
    const watermark = new Watermark(from, metadata);
    const claim: Claim = {
      ...{ partition, generation: this.#generation, groupGeneration, positions, watermark, isPlaced },
      ...{ epoch: null, missing: null, revoked: false, dirty: false, end: from },
    };
    if (isPlaced) positions?.resolveOffset({ topic: this.#options.topic, partition, offset: String(from - 1) });
    this.#claims.set(partition, claim);
    this.#handlers.assigned(claim);
    return claim;
  }

  async #committed(membership: GroupMembership, partitions: readonly number[]): Promise<readonly OffsetOfPartition[]> {
    if (partitions.length === 0) return [];
    const { topic } = this.#options;
    const topics = [{ topic, partitions: partitions.map((partition) => ({ partition })) }];
    const { responses } = await membership.coordinator.offsetFetch({ groupId: membership.groupId, topics });
    return responses.flatMap((response) => response.partitions);
  }

  /** Where the partition's log begins and ends now. @throws what kafkajs throws where its leader does not answer. */
  async #extent(
    membership: GroupMembership,
    partition: number,
  ): Promise<{ readonly low: number; readonly high: number }> {
    const { topic } = this.#options;
    const offsetAt = async (fromBeginning: boolean): Promise<number> => {
      const topics = [{ topic, partitions: [{ partition }], fromBeginning }];
      const [found] = await membership.cluster.fetchTopicsOffset(topics);
      const offset = found?.partitions.find((each) => each.partition === partition)?.offset;
      if (offset === undefined)
        throw unavailable(`No broker says where partition ${partition} of ${topic} begins and ends.`);
      return Number(offset);
    };
    return { low: await offsetAt(true), high: await offsetAt(false) };
  }

  /** (C8) */
  async #outOfRange(partition: number): Promise<void> {
    const [membership, claim] = [this.#membership, this.#claims.get(partition)];
    if (membership === null || claim === undefined || claim.revoked || this.#isClosed) return;
    try {
      const { low, high } = await this.#extent(membership, partition);
      const { next } = claim.watermark;
      if (next >= low && next <= high) return await sleep(lookAgainMs); // the leader has changed since
      const meaning =
        next > high
          ? `The log ends at ${high}, before the next offset ${next}: its tail is lost. Everything that the log still has is read again.`
          : `The log begins at ${low}, behind the next offset ${next}: retention has removed ${low - next} records before they were handled.`;
      await this.#beginAnew(claim, low, meaning);
    } catch (error) {
      this.#options.logger.warn('log_not_read', {
        topic: this.#options.topic,
        partition,
        reason: (error as Error).message,
      });
      await sleep(lookAgainMs);
    }
  }

  /** (C8) */
  async #beginAnew(old: Claim, from: number, meaning: string): Promise<void> {
    const { topic, logger } = this.#options;
    const { partition, watermark } = old;
    const fields = { topic, partition, committed: watermark.low, next: watermark.next, from, meaning };
    logger.error('records_missing', fields);
    await this.#revoke([old]);
    const membership = this.#membership;
    if (membership === null || this.#claims.get(partition) !== old || this.#isClosed) return; // a newer generation
    this.#generation += 1; // (C10)
    const claim = this.#begin(membership, partition, { from, metadata: null, isPlaced: true });
    claim.dirty = true; // the committed offset belongs to the log that was lost
    this.#committing ??= this.#commitLoop();
  }

  /** (C3) */
  async #takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const claim = this.#claims.get(batch.partition);
    if (claim === undefined || claim.revoked) return;
    if (!isFetchOf(claim, fetchOf(batch))) return; // (C7)
    claim.end = Math.max(claim.end, Number(batch.highWatermark));
    for (const message of batch.messages) {
      if (claim.revoked || this.#isClosed) return;
      if (this.#handlers.busy()) return this.#pause();
      const offset = Number(message.offset);
      const epoch = epochOf(message);
      if (offset > claim.watermark.next) {
        const isLost = epoch !== null && claim.epoch !== null && epoch > claim.epoch;
        this.#sayMissing(claim, offset, isLost);
        if (!isLost) return this.#standStill(claim); // (C9)
      }
      claim.missing = null;
      const isNew = claim.watermark.deliver(offset, Number(message.timestamp));
      if (isNew) claim.epoch = epoch; // an old leader may answer late, with what the new one has already given
      payload.resolveOffset(message.offset);
      const isAgain = offset < claim.watermark.deliveredBefore;
      if (isNew) this.#handlers.record(claim, message, () => this.#finish(claim, offset), isAgain);
    }
  }

  /** (C9) */
  #sayMissing(claim: Claim, found: number, isLost: boolean): void {
    const { topic, logger } = this.#options;
    const { partition, missing } = claim;
    const { low: committed, next } = claim.watermark;
    const what = `The log of partition ${partition} of ${topic} has no records from ${next} to ${found - 1}`;
    const meaning = isLost
      ? `${what}, and a newer leader went on behind them: they are lost. What follows is handled.`
      : `${what}. The partition waits for them, and is read again from there: another copy may have them. If none has, stop the group's members and set its offset of this partition to ${found}.`;
    if (missing === null) logger.error('records_missing', { topic, partition, committed, next, found, meaning });
    claim.missing = isLost ? null : meaning;
  }

  /** Reads again from where the claim stops, after a short wait. (C9) */
  async #standStill({ partition, positions, watermark }: Claim): Promise<void> {
    positions?.resolveOffset({ topic: this.#options.topic, partition, offset: String(watermark.next - 1) });
    await sleep(lookAgainMs);
  }

  /** Pauses until more records are wanted: nothing is fetched, heartbeats go on. */
  #pause(): void {
    if (this.#paused !== null) return;
    const consumer = this.#consumer;
    consumer?.pause([{ topic: this.#options.topic }]);
    const look = (): void => {
      this.#paused = null;
      if (this.#isClosed || this.#consumer !== consumer) return;
      if (this.#handlers.busy()) this.#paused = setTimeout(look, busyPollMs);
      else consumer?.resume([{ topic: this.#options.topic }]);
    };
    this.#paused = setTimeout(look, busyPollMs);
  }

  /** A pause belongs to one consumer of kafkajs, and ends with it. */
  #endPause(): void {
    if (this.#paused !== null) clearTimeout(this.#paused);
    this.#paused = null;
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

  /** One request for all claims; what fails is committed with the next, or read again by the next owner. (C2, C5) */
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
    const began = performance.now();
    try {
      await membership.coordinator.offsetCommit({
        groupId,
        memberId: membership.memberId,
        groupGenerationId: first.groupGeneration,
        topics: [{ topic, partitions }],
      });
      this.#options.commitTimes.record((performance.now() - began) / 1_000);
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
      // The broker is away: the fetch loop of kafkajs fails as well, and the group is joined again.
    }
  }
}

/** Whether a batch has a claim's positions; the first batch of a claim without a committed offset places it. (C7) */
function isFetchOf(claim: Claim, fetch: FetchOfBatch | null): boolean {
  if (fetch === null || fetch.positions !== claim.positions) return false;
  if (!claim.isPlaced) {
    claim.watermark = new Watermark(fetch.from, null);
    claim.isPlaced = true;
  }
  return true;
}
