// The faults of a cluster, one after another, chosen by a seed. Each ends healed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '../services/kafka/several-brokers.ts';
import type { ChaosCluster, Instance } from './chaos-cluster.ts';
import type { FaultProxy, Held } from './fault-proxy.ts';
import { between, pick, shuffled } from './random.ts';

export interface Mischief {
  readonly name: string;
  readonly weight: number;
  readonly act: (cluster: ChaosCluster, random: () => number) => Promise<void>;
}

async function killed(cluster: ChaosCluster, instance: Instance, awayMs: number): Promise<void> {
  await cluster.end(instance, 'SIGKILL');
  await sleep(awayMs);
  cluster.start(instance);
}

const inStepWithinMs = 60_000;

/**
 * One of the brokers, when all copies are in step: an earlier fault is over, and what is acknowledged now stands on
 * three. Null when that takes too long; then no fault follows, because two copies that are behind at once are more than
 * is guaranteed.
 */
async function brokerToHurt({ kafka, partitions }: ChaosCluster, random: () => number): Promise<Broker | null> {
  return (await partitions.untilInStep(inStepWithinMs)) ? pick(kafka.brokers, random) : null;
}

async function restarted(broker: Broker, awayMs: number): Promise<void> {
  await broker.end('SIGKILL');
  await sleep(awayMs);
  await broker.start();
}

const reassigned: Mischief = {
  name: 'partitions reassigned',
  weight: 6,
  act: ({ partitions }, random) => partitions.reassign(random),
};
const elected: Mischief = {
  name: 'leaders elected',
  weight: 4,
  act: ({ partitions }, random) => partitions.reorder(random),
};
const brokerKilled: Mischief = {
  name: 'a broker killed and started again',
  weight: 2,
  act: async (cluster, random) => {
    const broker = await brokerToHurt(cluster, random);
    if (broker !== null) await restarted(broker, between(random, 300, 5_000)); // longer than its session, or not
  },
};
const tailLost: Mischief = {
  name: 'a broker that lost the tail of its log',
  weight: 2,
  act: async (cluster, random) => {
    const broker = await brokerToHurt(cluster, random);
    if (broker === null) return;
    await broker.end('SIGKILL');
    broker.cutTail(between(random, 0.1, 0.6));
    await broker.start();
  },
};

/** One broker is killed and one loses its tail; otherwise partitions move, for as long as the run takes. */
export function* moves(random: () => number): Generator<Mischief> {
  yield* [reassigned, brokerKilled, elected, tailLost];
  for (;;) yield random() < 0.5 ? reassigned : elected;
}

/** Each comes once before anything else does, in an order by the seed: a short run has had all of them. */
export const brokerMischiefs: readonly Mischief[] = [
  reassigned,
  elected,
  brokerKilled,
  {
    name: 'a broker paused and resumed',
    weight: 2,
    act: async (cluster, random) => {
      const broker = await brokerToHurt(cluster, random);
      broker?.kill('SIGSTOP');
      await sleep(between(random, 1_000, 7_000));
      broker?.kill('SIGCONT');
    },
  },
  tailLost,
];

/** Everything, by its weight; faults of brokers come once first. */
export function* storm(random: () => number): Generator<Mischief> {
  yield* shuffled(brokerMischiefs, random);
  for (;;) yield chosen(random);
}

export const faultKinds = {
  storm: { faults: storm, pauseMs: { from: 0, to: 1_500 } },
  moves: { faults: moves, pauseMs: { from: 20_000, to: 40_000 } },
} as const;
export type FaultKind = keyof typeof faultKinds;

const serverKill = (name: 'mongo' | 'redis', weight: number): Mischief => ({
  name: `${name} killed and started again`,
  weight,
  act: async ({ servers }, random) => {
    servers[name].kill('SIGKILL');
    await sleep(between(random, 300, 1_500));
    await servers[name].restart();
  },
});

const proxyOf = ({ proxies }: ChaosCluster, random: () => number): FaultProxy =>
  pick([pick(proxies.kafka, random), proxies.mongo, proxies.redis], random);

export const mischiefs: readonly Mischief[] = [
  ...brokerMischiefs,
  {
    name: 'a rolling restart of all brokers',
    weight: 0.5,
    act: async ({ kafka, partitions }) => {
      for (const broker of kafka.brokers) {
        if (!(await partitions.untilInStep(inStepWithinMs))) return;
        await broker.end('SIGTERM');
        await broker.start();
      }
    },
  },
  {
    name: 'a service killed',
    weight: 8,
    act: (cluster, random) => killed(cluster, pick(cluster.instances, random), between(random, 100, 1_500)),
  },
  {
    name: 'a processor killed',
    weight: 4,
    act: (cluster, random) => {
      const processors = cluster.instances.filter(({ name }) => name === 'thread-processor');
      return killed(cluster, pick(processors, random), between(random, 100, 2_000));
    },
  },
  {
    // Longer than a session: the others take over while it still believes that it owns its partitions.
    name: 'a service stopped and resumed',
    weight: 5,
    act: async (cluster, random) => {
      const instance = pick(cluster.instances, random);
      instance.process.kill('SIGSTOP');
      await sleep(between(random, 500, 7_000));
      instance.process.kill('SIGCONT');
    },
  },
  serverKill('mongo', 2),
  serverKill('redis', 1),
  {
    name: 'Redis emptied',
    weight: 1,
    act: async ({ servers }) => {
      const { Redis } = await import('ioredis');
      const client = new Redis(servers.redis.url);
      await client.flushall();
      client.disconnect();
    },
  },
  {
    name: 'latency',
    weight: 3,
    act: async (cluster, random) => {
      const proxy = proxyOf(cluster, random);
      proxy.latencyMs = between(random, 5, 80);
      await sleep(between(random, 500, 2_000));
      proxy.latencyMs = 0;
    },
  },
  {
    name: 'connections reset',
    weight: 3,
    act: async (cluster, random) => proxyOf(cluster, random).cut(),
  },
  {
    name: 'a partition, one way or both',
    weight: 3,
    act: async (cluster, random) => {
      const proxy = proxyOf(cluster, random);
      proxy.held = pick<Held>(['to server', 'to client', 'both'], random);
      await sleep(between(random, 300, 3_000));
      proxy.held = 'nothing';
    },
  },
  {
    name: 'a rolling restart of all services',
    weight: 1,
    act: async (cluster) => {
      for (const instance of cluster.instances) {
        await cluster.end(instance, 'SIGTERM');
        cluster.start(instance);
      }
    },
  },
];

function chosen(random: () => number): Mischief {
  const total = mischiefs.reduce((sum, { weight }) => sum + weight, 0);
  let rest = random() * total;
  for (const mischief of mischiefs) {
    rest -= mischief.weight;
    if (rest < 0) return mischief;
  }
  return pick(mischiefs, random);
}
