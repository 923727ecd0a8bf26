// The Kafka adapter under faults: members come, go and die, the broker dies, topics are unfit.
import { type KafkaBus, openKafka } from '@dormouse/adapter-kafka';
import type { Logger, Subscription, ThreadDelivery } from '@dormouse/ports';
import { createInputRecorder, freshKey, type InputRecorder, messageOf } from '@dormouse/ports/contracts';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { recipe } from '../services/kafka/recipe.ts';
import { withServices } from '../services/needed-services.ts';
import type { RunningService, Started } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';

const silent: Logger = { info: () => {}, warn: () => {}, error: () => {} };
const plan = { partitions: 6, replication: 1, retentionMs: 14 * 86_400_000 };

withServices(['kafka'], ({ kafka }) => {
  const open: KafkaBus[] = [];
  const subscriptions: Subscription[] = [];
  afterEach(async () => {
    for (const subscription of subscriptions.splice(0)) await subscription.close(100);
    for (const bus of open.splice(0)) await bus.close();
  });

  const freshPrefix = (): string => `faults-${randomBytes(6).toString('hex')}.`;
  const openBus = async (prefix: string, brokers = kafka, makeTopics: typeof plan | null = plan) => {
    const bus = await openKafka({
      brokers: brokers.split(','),
      prefix,
      makeTopics: makeTopics ?? undefined,
      clientId: 'test',
      sessionTimeoutMs: 3_000,
      logger: silent,
    });
    open.push(bus);
    return bus;
  };
  const consume = async (bus: KafkaBus, recorder: InputRecorder): Promise<Subscription> => {
    const subscription = await bus.inputs.consume(recorder);
    subscriptions.push(subscription);
    return subscription;
  };
  const release = (delivery: ThreadDelivery): void => {
    delivery.decided(null);
    delivery.release();
  };

  const largeMessage = (characters: number): ReturnType<typeof messageOf> => ({
    ...messageOf('large'),
    content: [{ type: 'text', text: 'x'.repeat(characters) }],
  });

  describe('members of a group', () => {
    it('share the partitions, keep what they have, and lose nothing when one leaves', async () => {
      const prefix = freshPrefix();
      const [first, second] = [await openBus(prefix), await openBus(prefix)];
      const here = createInputRecorder(release);
      await consume(first, here);
      expect(first.partitions.owned().size).toBe(plan.partitions);
      const there = createInputRecorder(release);
      const leaving = await consume(second, there);
      await expect.poll(() => first.partitions.owned().size).toBe(3);
      await expect.poll(() => second.partitions.owned().size).toBe(3);
      const keys = Array.from({ length: 40 }, () => freshKey());
      for (const key of keys) void first.inputs.publish(key, messageOf('one'));
      await expect.poll(() => here.ids().length + there.ids().length).toBeGreaterThanOrEqual(40);
      expect(there.ids().length).toBeGreaterThan(0);
      await leaving.close(500);
      await expect.poll(() => first.partitions.owned().size).toBe(plan.partitions);
      await Promise.all(keys.map((key) => first.inputs.publish(key, messageOf('two'))));
      await expect.poll(() => keys.every((key) => here.ids(key).includes('two'))).toBe(true);
    });

    it('find again what an owner that died had not finished, and not what it had', async () => {
      const prefix = freshPrefix();
      const dying = await openBus(prefix);
      const finishes = createInputRecorder((delivery) => {
        if (delivery.what === 'input' && delivery.input.id !== 'stuck') release(delivery);
      });
      const subscription = await consume(dying, finishes);
      const key = freshKey();
      for (const id of ['stuck', 'done-1', 'done-2', 'done-3']) await dying.inputs.publish(key, messageOf(id));
      await expect.poll(() => finishes.ids(key).length).toBe(4);
      await subscription.close(300);
      const next = createInputRecorder();
      await consume(await openBus(prefix), next);
      await expect.poll(() => next.ids(key)).toEqual(['stuck']);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(next.ids(key)).toEqual(['stuck']);
    });
  });

  it('a group that dies before its first offset commit: everything is delivered to the next owner', async () => {
    const prefix = freshPrefix();
    const bus = await openBus(prefix);
    const keys = Array.from({ length: 12 }, () => freshKey());
    for (const [place, key] of keys.entries()) await bus.inputs.publish(key, messageOf(`c:${place}`));
    const program = fileURLToPath(new URL('./consuming-victim.ts', import.meta.url));
    const victim = spawn(process.execPath, ['--conditions=dormouse-source', program, kafka, prefix], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let given = '';
    victim.stdout.on('data', (chunk: Buffer) => (given += chunk.toString()));
    await expect.poll(() => given.split('\n').length - 1).toBe(keys.length);
    victim.kill('SIGKILL');
    const admin = new Kafka({ brokers: kafka.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const [offsets] = await admin.fetchOffsets({ groupId: `${prefix}thread-processor`, topics: [`${prefix}inputs`] });
    await admin.disconnect();
    expect(new Set(offsets?.partitions.map(({ offset }) => offset))).toEqual(new Set(['-1'])); // nothing was ever committed
    const next = createInputRecorder(release);
    await consume(bus, next);
    await expect.poll(() => next.ids().length).toBe(keys.length);
    expect(new Set(next.ids()).size).toBe(keys.length);
  });

  describe('topics', () => {
    it('are made once; another partition count is refused with what to do', async () => {
      const prefix = freshPrefix();
      await openBus(prefix);
      await openBus(prefix);
      await expect(openBus(prefix, kafka, { ...plan, partitions: 12 })).rejects.toMatchObject({
        code: 'TOPICS_UNFIT',
        message: expect.stringContaining('A count is never changed'),
      });
    });

    it('that are missing are a fault that names the command', async () => {
      const refused = openKafka({ brokers: [kafka], prefix: freshPrefix(), clientId: 'test', logger: silent });
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('npm run setup') });
    });

    /** As an operator creates or changes them by hand. */
    const byHand = async (work: (admin: Admin) => Promise<unknown>): Promise<void> => {
      const admin = new Kafka({ brokers: kafka.split(','), logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await work(admin);
      await admin.disconnect();
    };
    const topicsOf = (prefix: string): string[] => ['inputs', 'dispatches', 'notices'].map((topic) => prefix + topic);
    /** Of our three topics; nothing while the broker does not know them yet. */
    const partitionsOf = async (admin: Admin, prefix: string): Promise<readonly number[]> => {
      try {
        return (await admin.fetchTopicMetadata({ topics: topicsOf(prefix) })).topics.map(
          ({ partitions }) => partitions.length,
        );
      } catch {
        return [];
      }
    };
    const madeWith = async (settings: Readonly<Record<string, string>>): Promise<string> => {
      const prefix = freshPrefix();
      const topics = topicsOf(prefix).map((topic) => ({
        topic,
        numPartitions: 6,
        configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
      }));
      await byHand(async (admin) => {
        await admin.createTopics({ topics, timeout: 20_000, waitForLeaders: false });
        await expect.poll(() => partitionsOf(admin, prefix)).toEqual([6, 6, 6]);
      });
      return prefix;
    };

    const roomy = { 'max.message.bytes': '4000000' };

    it('that take small messages only are refused, with the setting', async () => {
      const prefix = await madeWith({ 'retention.ms': '-1' });
      await expect(openBus(prefix)).rejects.toMatchObject({
        code: 'TOPICS_UNFIT',
        message: expect.stringContaining('Set its max.message.bytes to 2097152'),
      });
    });

    it('that take larger messages than needed are used as they are', async () => {
      const bus = await openBus(await madeWith({ ...roomy, 'retention.ms': '-1' }));
      const recorder = createInputRecorder(release);
      await consume(bus, recorder);
      const key = freshKey();
      await bus.inputs.publish(key, largeMessage(3_000_000));
      await expect.poll(() => recorder.ids(key)).toEqual(['large']);
    });

    it('that forget too early are refused', async () => {
      const prefix = await madeWith({ ...roomy, 'retention.ms': '3600000' });
      await expect(openBus(prefix)).rejects.toMatchObject({ message: expect.stringContaining('retention.ms') });
    });

    it('that remember longer than the brokers remember their groups are refused, with the setting', async () => {
      const prefix = await madeWith({ ...roomy, 'retention.ms': String(400 * 86_400_000) });
      await expect(openBus(prefix)).rejects.toMatchObject({
        code: 'TOPICS_UNFIT',
        message: expect.stringContaining('Set offsets.retention.minutes of the brokers to 576000 or more'),
      });
    });

    it('that are kept for ever are fine', async () => {
      await openBus(await madeWith({ ...roomy, 'retention.ms': '-1' }));
    });

    it('one of which was given more partitions by hand are refused', async () => {
      const prefix = freshPrefix();
      await openBus(prefix);
      await byHand(async (admin) => {
        await admin.createPartitions({ topicPartitions: [{ topic: `${prefix}inputs`, count: 8 }], timeout: 20_000 });
        await expect.poll(() => partitionsOf(admin, prefix)).toContain(8);
      });
      await expect(openBus(prefix, kafka, null)).rejects.toMatchObject({
        code: 'TOPICS_UNFIT',
        message: expect.stringContaining(`${prefix}inputs 8, ${prefix}notices 6. Somebody changed one by hand`),
      });
    });
  });

  it('a record that is too large is refused alone, with the setting that mends it', async () => {
    const bus = await openBus(freshPrefix());
    const recorder = createInputRecorder(release);
    await consume(bus, recorder);
    const key = freshKey();
    const refused = bus.inputs.publish(key, largeMessage(2_100_000));
    await Promise.all([
      expect(refused).rejects.toMatchObject({
        code: 'RECORD_TOO_LARGE',
        message: expect.stringContaining('raise max.message.bytes of the topics'),
      }),
      bus.inputs.publish(key, messageOf('small')),
    ]);
    await expect.poll(() => recorder.ids(key)).toEqual(['small']);
  });

  it('a record that nobody can read is passed over, and the next one comes', async () => {
    const prefix = freshPrefix();
    const bus = await openBus(prefix);
    const key = freshKey();
    const producer = new Kafka({ brokers: [kafka], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const partition = bus.partitions.of(key);
    for (const value of ['{"tenant":', 'null', '{"tenant":"acme"}', ''])
      await producer.send({ topic: `${prefix}inputs`, messages: [{ partition, key: 'acme:x', value }] });
    await producer.disconnect();
    await bus.inputs.publish(key, messageOf('after'));
    const recorder = createInputRecorder(release);
    await consume(bus, recorder);
    await expect.poll(() => recorder.ids()).toEqual(['after']);
  });

  describe('a broker of its own', () => {
    let directory: string;
    let started: Started | undefined;
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), 'dormouse-kafka-'));
      started = await recipe.start({ directory, cache: serviceCache, own: true, say: () => {} });
    });
    afterAll(async () => {
      if (started?.available) await started.service.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    const running = (context: TestContext): RunningService =>
      started?.available ? started.service : context.skip(`${started?.reason} ${started?.remedy}`);

    it('that is busy and knows new topics late: they are made, and waited for', async (context) => {
      const brokers = running(context).url;
      const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await admin.createTopics({ topics: [{ topic: 'busy', numPartitions: 800 }], waitForLeaders: false });
      const prefix = freshPrefix();
      const bus = await openBus(prefix, brokers);
      await bus.mark('ours');
      expect(await bus.marks()).toEqual(['ours']);
      expect(bus.partitions.count).toBe(plan.partitions);
      await admin.disconnect();
    });

    it('that is killed and started again: what was accepted arrives, and the consumer goes on', async (context) => {
      const service = running(context);
      const bus = await openBus(freshPrefix(), service.url);
      const recorder = createInputRecorder(release);
      await consume(bus, recorder);
      const key = freshKey();
      await bus.inputs.publish(key, messageOf('before'));
      service.kill('SIGKILL');
      await expect(bus.inputs.publish(key, messageOf('lost?'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await service.restart();
      const isAccepted = async (): Promise<boolean> => {
        try {
          await bus.inputs.publish(key, messageOf('after'));
          return true;
        } catch {
          return false; // not yet
        }
      };
      await expect.poll(isAccepted).toBe(true);
      await expect.poll(() => recorder.ids(key)).toContain('after');
      expect(recorder.ids(key)).toContain('before');
    });
  });
});
