// What an installation survives when its servers fail over as they do in production, under load: brokers restarted one
// after the other, a promoted replica of Redis, a store that is restarted. docs/failover.md has what was measured.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { expect, it, type TestContext } from 'vitest';
import type { ChaosCluster } from '../chaos/chaos-cluster.ts';
import { type ReplicatedRedis, startClusteredRedis, startSentinels } from '../services/redis/several-servers.ts';
import { type RunningService, ServerMissing, type StartOptions } from '../services/service.ts';
import { serviceCache } from '../services/service-cache.ts';
import { type FailoverOrder, type FailoverReport, runFailover } from './run-failover.ts';

const { MongoClient } = mongoose.mongo;
const inStepWithinMs = 180_000;
/** Longer than a session of Kafka's, and than that of a broker. */
const silentMs = 10_000;
const clockAhead = new URL('clock-ahead.ts', import.meta.url).href;
const messagesMin = 200;
const diskBytes = 268_435_456;
/** Room for what PostgreSQL has when it starts, and for the log of a run between two checkpoints. */
const storeDiskBytes = 805_306_368;
/** More than the log of the store takes without a new file, and less than its volume has room for. */
const logBytesMax = 134_217_728;

/** Of a run in which nothing was lost or doubled, and every turn ended; skipped where a server is missing. */
async function survived(context: TestContext, order: FailoverOrder): Promise<FailoverReport> {
  const report = await runFailover(context.task.name, order).catch((error: unknown) => {
    context.skip(error instanceof ServerMissing, (error as Error).message);
    throw error;
  });
  expect(report.violations).toEqual([]);
  expect(report.found).toEqual({ lost: 0, doubled: 0, unended: 0 });
  expect(report.messages).toBeGreaterThan(messagesMin);
  for (const name of ['before', 'during', 'after'] as const) expect(report.waits[name].messages).toBeGreaterThan(0);
  return report;
}

it('I-01 I-03 I-05 I-07 I-10 I-24 a rolling restart of three brokers under load: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    act: async ({ kafka, partitions }, say) => {
      for (const broker of kafka.brokers) {
        expect(await partitions.untilInStep(inStepWithinMs)).toBe(true);
        say(`broker ${broker.node}`);
        await broker.end('SIGTERM');
        await broker.start();
      }
      expect(await partitions.untilInStep(inStepWithinMs)).toBe(true);
    },
  });
});

it('I-01 I-03 I-05 I-07 I-10 I-24 a store that is killed and started again under load, and one that is stopped in order: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    variant: { brokers: 1 },
    act: async ({ servers: { mongo } }, say) => {
      say('killed');
      mongo.kill('SIGKILL');
      await sleep(3_000); // its processes end
      await mongo.restart();
      await sleep(15_000);
      say('stopped in order');
      await mongo.stop();
      await mongo.restart();
    },
  });
});

it('I-01 I-03 I-05 I-07 I-10 I-24 a broker whose volume is full under load, until there is room again: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    disk: { of: join('kafka', 'broker-1'), bytes: diskBytes },
    act: async ({ kafka, partitions }, say, disk) => {
      expect(await partitions.untilInStep(inStepWithinMs)).toBe(true);
      say('its volume is full');
      disk?.fill();
      await sleep(silentMs);
      say('there is room again');
      disk?.makeRoom();
      const [broker] = kafka.brokers;
      await broker?.end('SIGKILL'); // it has given up its only directory
      await broker?.start();
      expect(await partitions.untilInStep(inStepWithinMs)).toBe(true);
    },
  });
});

it('I-01 I-03 I-05 I-07 I-10 I-24 a store whose volume is full under load, then killed while it is full, until there is room again: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    variant: { brokers: 1 },
    disk: { of: 'mongo', bytes: storeDiskBytes },
    act: async (cluster, say, disk) => {
      const { mongo } = cluster.servers;
      say('its volume is full');
      disk?.fill();
      expect(await refusal(mongo.url)).not.toBeNull();
      await sleep(silentMs);
      say('there is room again');
      disk?.makeRoom();
      if (!mongo.pids().every(isRunning)) {
        say('it has ended, and is started again');
        await mongo.restart();
      }
      await cluster.untilReady();
      await sleep(silentMs);
      say('full again, and killed');
      disk?.fill();
      await sleep(silentMs / 2);
      mongo.kill('SIGKILL');
      await sleep(silentMs / 2);
      say('there is room again');
      disk?.makeRoom();
      await mongo.restart();
    },
  });
});

/** Why the store takes no more: it does once its log of writes has no room left. Null where it takes everything. */
async function refusal(url: string): Promise<string | null> {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: silentMs });
  const bytes = Buffer.alloc(1_048_576, 1);
  try {
    for (let stored = 0; stored < logBytesMax; stored += bytes.length)
      await client.db('full').collection('probe').insertOne({ bytes }, { timeoutMS: silentMs });
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.close();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A master that is killed, then a replica that is promoted on purpose. */
async function promotions(
  context: TestContext,
  start: (options: Pick<StartOptions, 'directory' | 'cache' | 'say'>) => Promise<ReplicatedRedis>,
): Promise<FailoverReport> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-redis-'));
  let redis: ReplicatedRedis | null = null;
  try {
    redis = await start({ directory, cache: serviceCache, say: () => {} }).catch((error: unknown) => {
      context.skip(error instanceof ServerMissing, (error as Error).message);
      throw error;
    });
    const servers = redis;
    const act = async (_: ChaosCluster, say: (line: string) => void): Promise<void> => {
      say('a master is killed');
      await servers.loseMaster();
      await sleep(5_000);
      say('a replica is promoted on purpose');
      await servers.promoteReplica();
    };
    return await survived(context, { variant: { redis: asService(servers.url), brokers: 1 }, act });
  } finally {
    await redis?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** To be given to a cluster, which does not damage it. */
function asService(url: string): RunningService {
  const refuse = (): never => {
    throw new Error('several servers: they are damaged by name');
  };
  return { url, pids: () => [], stop: async () => {}, restart: async () => refuse(), kill: refuse };
}

it('I-01 I-03 I-05 I-07 I-10 I-24 Redis with Sentinels, whose replica is promoted under load: nothing lost, nothing doubled, and it is found again', async (context) => {
  const { logged } = await promotions(context, startSentinels);
  expect(logged.get('redis_away')).toBeGreaterThan(0);
  expect(logged.get('redis_back')).toBe(logged.get('redis_away'));
});

it('I-01 I-03 I-05 I-07 I-10 I-24 a Redis Cluster of three masters and three replicas, one of which is promoted under load: nothing lost, nothing doubled, and it is found again', async (context) => {
  const { logged } = await promotions(context, startClusteredRedis);
  expect(logged.get('redis_node_away')).toBeGreaterThan(0);
  expect(logged.get('redis_back') ?? 0).toBe(logged.get('redis_away') ?? 0);
});

it('I-01 I-03 I-05 I-07 I-10 I-24 a node that disappears under load, with a broker and a copy of each service: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    act: async (cluster, say) => {
      expect(await cluster.partitions.untilInStep(inStepWithinMs)).toBe(true);
      const there = cluster.instances.filter(({ label }) => label.endsWith('-1'));
      const [broker] = cluster.kafka.brokers;
      say('it is silent: its connections stay open');
      broker?.kill('SIGSTOP');
      for (const { process: its } of there) its.kill('SIGSTOP');
      await sleep(silentMs);
      say('its connections are reset');
      await Promise.all([broker?.end('SIGKILL'), ...there.map((instance) => cluster.end(instance, 'SIGKILL'))]);
      await sleep(silentMs);
      say('another node has its work');
      await broker?.start();
      for (const instance of there) cluster.start(instance);
      expect(await cluster.partitions.untilInStep(inStepWithinMs)).toBe(true);
    },
  });
});

it('I-01 I-03 I-05 I-07 I-10 I-24 clocks that are a minute ahead, in a copy of each service that takes over and ends: nothing lost, nothing doubled', async (context) => {
  await survived(context, {
    act: async (cluster, say) => {
      const ahead = cluster.instances.filter(({ label }) => label.endsWith('-1'));
      const others = cluster.instances.filter(({ label }) => !label.endsWith('-1'));
      const again = async (instances: typeof ahead): Promise<void> => {
        for (const instance of instances) {
          await cluster.end(instance, 'SIGTERM');
          cluster.start(instance);
          await cluster.untilReady([instance]);
        }
      };
      say('the first copies are a minute ahead');
      for (const instance of ahead) instance.imports = [clockAhead];
      await again(ahead);
      await sleep(silentMs);
      say('partitions move there and back');
      await again(others);
      await sleep(silentMs);
      for (const instance of ahead) instance.imports = [];
      await again(ahead);
    },
  });
});
