// The Kafka adapter over three real brokers, under load: partitions move, leaders are elected, a broker is killed, is paused, loses the
// tail of its log, and comes back. What was acknowledged is finished by the owner of its partition, all of it.
import { type KafkaBus, openKafka } from '@dormouse/adapter-kafka';
import type { InputConsumer, Logger, Subscription, ThreadKey } from '@dormouse/ports';
import { freshKey, messageOf } from '@dormouse/ports/contracts';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartitionMover, type PartitionMover } from '../chaos/partition-mover.ts';
import { startSeveralBrokers, type SeveralBrokers } from '../services/kafka/several-brokers.ts';
import { withServices } from '../services/needed-services.ts';
import { serviceCache } from '../services/service-cache.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
const threads = 24;
const withinMs = 120_000;

interface Work {
  readonly consumer: InputConsumer;
  /** Ids that were finished by an owner of their partition. */
  readonly finished: Set<string>;
}

/** Finishes what it is given a moment later, as long as it owns the partition. */
function createWork(): Work {
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
      setTimeout(finish, Math.random() * 400);
    },
  };
  return { consumer, finished };
}

withServices(['kafka'], () => {
  describe('three brokers', () => {
    const directory = mkdtempSync(join(tmpdir(), 'dormouse-brokers-'));
    const prefix = `brokers-${randomBytes(6).toString('hex')}.`;
    const buses: KafkaBus[] = [];
    const subscriptions: Subscription[] = [];
    const work = [createWork(), createWork()];
    const acknowledged = new Set<string>();
    const keys = Array.from({ length: threads }, () => freshKey());
    let cluster: SeveralBrokers | null = null;
    let mover: PartitionMover | null = null;
    let isLoaded = true;
    let load: Promise<unknown> = Promise.resolve();

    const open = async (urls: readonly string[], makeTopics = false): Promise<KafkaBus> => {
      const bus = await openKafka({
        brokers: urls,
        prefix,
        ...(makeTopics && { makeTopics: { partitions: 6, replication: null, retentionMs: 14 * 86_400_000 } }),
        clientId: 'test',
        sessionTimeoutMs: 6_000,
        logger: silent,
      });
      buses.push(bus);
      return bus;
    };

    /** One message after the other; what is refused is sent again, under the same id. */
    async function send(bus: KafkaBus, key: ThreadKey): Promise<void> {
      for (let nth = 0; isLoaded; nth += 1) {
        const id = `${key.thread}-${nth}`;
        while (!(await taken(bus, key, id))) await sleep(100);
        acknowledged.add(id);
        await sleep(20);
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

    beforeAll(async () => {
      cluster = await startSeveralBrokers({
        directory,
        cache: serviceCache,
        say: () => {},
        advertisedPorts: [0, 0, 0],
      });
      const urls = cluster.brokers.map(({ url }) => url);
      const sender = await open(urls, true);
      for (const { consumer } of work) subscriptions.push(await (await open(urls)).inputs.consume(consumer));
      mover = await createPartitionMover(cluster.innerUrls, [`${prefix}inputs`]);
      load = Promise.all(keys.map((key) => send(sender, key)));
    }, 180_000);

    afterAll(async () => {
      isLoaded = false;
      await Promise.race([load, sleep(20_000)]);
      await mover?.close();
      for (const subscription of subscriptions) await subscription.close(100);
      for (const bus of buses) await bus.close();
      await cluster?.stop();
      rmSync(directory, { recursive: true, force: true });
    }, 60_000);

    it('partitions that move from broker to broker lose nothing', { timeout: withinMs * 2 }, async () => {
      await mover?.reassign(Math.random);
      await mover?.reorder(Math.random);
      await mover?.reassign(Math.random);
      await settled();
    });

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

    it('one that stands still for longer than a session loses nothing', { timeout: withinMs * 2 }, async () => {
      await inStep();
      brokerOf(1).kill('SIGSTOP');
      await sleep(7_000);
      brokerOf(1).kill('SIGCONT');
      await settled();
      expect(acknowledged.size).toBeGreaterThan(threads);
    });
  });
});
