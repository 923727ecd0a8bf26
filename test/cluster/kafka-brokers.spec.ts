// The Kafka adapter over three real brokers, under load: partitions move, leaders are elected, brokers are restarted
// and added, one is killed, is paused, loses the tail of its log, and comes back. What was acknowledged is finished by
// the owner of its partition, all of it.
import { type KafkaBus, type KafkaOptions, openKafka } from '@dormouse/adapter-kafka';
import type { InputConsumer, Logger, Subscription, ThreadKey } from '@dormouse/ports';
import { freshKey, messageOf } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartitionMover, type PartitionMover } from '../chaos/partition-mover.ts';
import { startSeveralBrokers, type SeveralBrokers } from '../services/kafka/several-brokers.ts';
import { withServices } from '../services/needed-services.ts';
import { serviceCache } from '../services/service-cache.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
const partitions = 6;
const retentionMs = 14 * 86_400_000;
const installation = `brokers-${randomBytes(6).toString('hex')}.`;
/**
 * A group of two under load without a pause, and one member alone whose partitions are silent now and then while it
 * works: it joins so fast that an earlier long poll is answered after it.
 */
const groups = [
  { prefix: `${installation}two.`, members: 2, threads: 24, pauseMs: 40, workMs: 400 },
  { prefix: `${installation}alone.`, members: 1, threads: 12, pauseMs: 600, workMs: 2_000 },
];
const withinMs = 120_000;

interface Work {
  readonly consumer: InputConsumer;
  /** Ids that were finished by an owner of their partition. */
  readonly finished: Set<string>;
}

/** Finishes its inputs within `workMs`, as long as it owns the partition. */
function createWork(workMs: number): Work {
  const finished = new Set<string>();
  const owned = new Map<number, object>();
  const consumer: InputConsumer = {
    assigned: ({ partition }) => void owned.set(partition, {}),
    revoked: async ({ partition }) => void owned.delete(partition),
    busy: () => false,
    deliver: ({ partition }, delivery) => {
      const mine = owned.get(partition);
      const finish = (): void => {
        if (mine === undefined || owned.get(partition) !== mine) return;
        if (delivery.what === 'input') finished.add(delivery.input.id);
        delivery.decided(null);
        delivery.release();
      };
      setTimeout(finish, Math.random() * workMs);
    },
  };
  return { consumer, finished };
}

withServices(['kafka'], () => {
  describe('three brokers', () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-brokers-'));
    const buses: KafkaBus[] = [];
    const subscriptions: Subscription[] = [];
    const work: Work[] = [];
    const acknowledged = new Set<string>();
    let cluster: SeveralBrokers | null = null;
    let mover: PartitionMover | null = null;
    let isLoaded = true;
    const load: Promise<unknown>[] = [];

    const open = async (options: Pick<KafkaOptions, 'prefix'> & Partial<KafkaOptions>): Promise<KafkaBus> => {
      const bus = await openKafka({
        brokers: cluster?.brokers.map(({ url }) => url) ?? [],
        clientId: 'test',
        sessionTimeoutMs: 6_000,
        logger: silent,
        ...options,
      });
      buses.push(bus);
      return bus;
    };

    /** One message after the other; a refused one is sent again, under the same id. */
    async function send(bus: KafkaBus, key: ThreadKey, pauseMs: number): Promise<void> {
      for (let nth = 0; isLoaded; nth += 1) {
        const id = `${key.thread}-${nth}`;
        while (!(await taken(bus, key, id))) await sleep(100);
        acknowledged.add(id);
        await sleep(Math.random() * pauseMs);
      }
    }

    async function taken(bus: KafkaBus, key: ThreadKey, id: string): Promise<boolean> {
      try {
        await bus.inputs.publish(key, messageOf(id));
        return true;
      } catch {
        return false;
      }
    }

    /** Everything that is acknowledged by now is finished. */
    async function settled(): Promise<void> {
      const until = new Set(acknowledged);
      const missing = (): readonly string[] =>
        [...until].filter((id) => !work.some(({ finished }) => finished.has(id)));
      await expect.poll(() => missing().length, { timeout: withinMs, interval: 200 }).toBe(0);
    }

    const inStep = async (): Promise<void> => {
      expect(await mover?.untilInStep(60_000)).toBe(true);
    };
    const brokerOf = (node: number) => {
      const broker = cluster?.brokers[node - 1];
      if (broker === undefined) throw new Error('no broker');
      return broker;
    };

    async function withAdmin<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
      const brokers = [...(cluster?.innerUrls ?? [])];
      const admin = new Kafka({ brokers, clientId: 'test', logLevel: logLevel.NOTHING }).admin({
        retry: { retries: 20, maxRetryTime: 1_000 },
      });
      await admin.connect();
      try {
        return await use(admin);
      } finally {
        await admin.disconnect();
      }
    }

    const topics = groups.map(({ prefix }) => `${prefix}inputs`);

    const leaders = (of: readonly string[] = topics): Promise<readonly number[]> =>
      withAdmin(async (admin) => {
        const described = (await admin.fetchTopicMetadata({ topics: [...of] })).topics;
        const byName = described.toSorted((left, right) => left.name.localeCompare(right.name));
        return byName.flatMap((topic) =>
          topic.partitions.toSorted((left, right) => left.partitionId - right.partitionId).map(({ leader }) => leader),
        );
      });

    /** Every partition of the load has its copies there, and the first of them leads. */
    async function place(...replicas: readonly number[]): Promise<void> {
      const partitionAssignment = Array.from({ length: partitions }, (_, partition) => ({
        ...{ partition, replicas: [...replicas] },
      }));
      const moves = topics.map((topic) => ({ topic, partitionAssignment }));
      await withAdmin((admin) => admin.alterPartitionReassignments({ topics: moves }));
      const wanted = topics.flatMap(() => Array.from({ length: partitions }, () => replicas[0]));
      await expect.poll(() => leaders(), { timeout: withinMs, interval: 200 }).toEqual(wanted);
    }

    beforeAll(async () => {
      cluster = await startSeveralBrokers({
        directory,
        cache: serviceCache,
        say: () => {},
        advertisedPorts: [0, 0, 0],
      });
      for (const { prefix, members, threads, pauseMs, workMs } of groups) {
        const sender = await open({ prefix, makeTopics: { partitions, replication: null, retentionMs } });
        for (let nth = 0; nth < members; nth += 1) {
          const one = createWork(workMs);
          work.push(one);
          subscriptions.push(await (await open({ prefix })).inputs.consume(one.consumer));
        }
        for (let nth = 0; nth < threads; nth += 1) load.push(send(sender, freshKey(), pauseMs));
      }
      mover = await createPartitionMover(cluster.innerUrls, topics);
    }, 180_000);

    afterAll(async () => {
      isLoaded = false;
      await Promise.race([Promise.all(load), sleep(20_000)]);
      await mover?.close();
      for (const subscription of subscriptions) await subscription.close(100);
      for (const bus of buses) await bus.close();
      await cluster?.stop();
      rmSync(directory, { recursive: true, force: true });
    }, 60_000);

    it('partitions that move from broker to broker lose nothing', { timeout: withinMs * 2 }, async () => {
      for (let round = 0; round < 3; round += 1) {
        const before = await leaders();
        await mover?.reassign(Math.random);
        expect(await leaders()).not.toEqual(before);
        await mover?.reorder(Math.random);
      }
      await settled();
    });

    it(
      'a broker that leads no more is not asked any more, though it has a copy',
      { timeout: withinMs * 2 },
      async () => {
        const fetches: { readonly broker: string; readonly at: number }[] = [];
        const [topic = ''] = topics;
        const client = new Kafka({ brokers: [brokerOf(2).url], clientId: 'test', logLevel: logLevel.NOTHING });
        const reader = client.consumer({ groupId: `${installation}reader`, maxWaitTimeInMs: 200 });
        reader.on(reader.events.REQUEST, ({ payload: { apiName, broker } }) => {
          if (apiName === 'Fetch') fetches.push({ broker, at: performance.now() });
        });
        const asked = (): readonly string[] => {
          const recent = fetches.filter(({ at }) => performance.now() - at < 2_000);
          return [...new Set(recent.map(({ broker }) => broker))];
        };
        try {
          await place(1, 2, 3);
          await reader.connect();
          await reader.subscribe({ topic, fromBeginning: true });
          await reader.run({ autoCommit: false, eachBatch: async () => {} });
          await expect.poll(asked, { timeout: withinMs, interval: 200 }).toEqual([brokerOf(1).url]);
          await place(2, 3, 1);
          await expect.poll(asked, { timeout: 60_000, interval: 200 }).toEqual([brokerOf(2).url]);
        } finally {
          await reader.disconnect();
        }
        await settled();
      },
    );

    it('a broker that is killed and comes back loses nothing', { timeout: withinMs * 2 }, async () => {
      await inStep();
      await brokerOf(2).end('SIGKILL');
      await sleep(2_000);
      await brokerOf(2).start();
      await settled();
    });

    it('one that loses the tail of its log loses nothing that the others have', { timeout: withinMs * 2 }, async () => {
      await inStep();
      await brokerOf(3).end('SIGKILL');
      expect(brokerOf(3).cutTail(0.5)).toBeGreaterThan(0);
      await brokerOf(3).start();
      await settled();
    });

    it('brokers that are restarted one after the other lose nothing', { timeout: withinMs * 2 }, async () => {
      for (const node of [1, 2, 3]) {
        await inStep();
        await brokerOf(node).end('SIGTERM');
        await brokerOf(node).start();
      }
      await settled();
    });

    it('a broker that is added takes partitions over and loses nothing', { timeout: withinMs * 2 }, async () => {
      await inStep();
      await place(1, 2);
      await brokerOf(3).end('SIGTERM');
      await settled(); // with two, and clients that know of two
      await brokerOf(3).start();
      await place(3, 1, 2);
      await settled();
    });

    it(
      'where the only copy loses its tail, what is acknowledged afterwards is finished',
      { timeout: withinMs * 2 },
      async () => {
        await inStep();
        const only = `${installation}only.`;
        const errors: string[] = [];
        const logger: Logger = { ...silent, error: (event) => void errors.push(event) };
        const makeTopics = { partitions: 1, replication: 1, retentionMs };
        const bus = await open({ prefix: only, logger, makeTopics });
        const { consumer, finished } = createWork(100);
        subscriptions.push(await bus.inputs.consume(consumer));
        const key = freshKey();
        const sent = async (...ids: readonly string[]): Promise<void> => {
          for (const id of ids) while (!(await taken(bus, key, id))) await sleep(100);
          await expect.poll(() => ids.every((id) => finished.has(id)), { timeout: withinMs, interval: 200 }).toBe(true);
        };
        // Before: so many that later messages do not fill the part that is cut off.
        await sent(...Array.from({ length: 200 }, (_, nth) => `before-${nth}`));
        const groupId = `${only}thread-processor`;
        const committed = (): Promise<unknown> =>
          withAdmin(async (admin) => (await admin.fetchOffsets({ groupId, topics: [`${only}inputs`] }))[0]?.partitions);
        await expect.poll(committed, { timeout: withinMs, interval: 200 }).toMatchObject([{ offset: '200' }]);
        const [leader = 0] = await leaders([`${only}inputs`]);
        await brokerOf(leader).end('SIGKILL');
        expect(brokerOf(leader).cutTail(0.5)).toBeGreaterThan(0);
        await brokerOf(leader).start();
        await sent(...Array.from({ length: 20 }, (_, nth) => `after-${nth}`));
        expect(errors).toContain('records_missing');
      },
    );

    it('one that stands still for longer than a session loses nothing', { timeout: withinMs * 2 }, async () => {
      await inStep();
      brokerOf(1).kill('SIGSTOP');
      await sleep(7_000);
      brokerOf(1).kill('SIGCONT');
      await settled();
      expect(acknowledged.size).toBeGreaterThan(load.length);
    });
  });
});
