// What is done to a cluster, one thing after another, chosen by a seed. Each ends healed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosCluster, Instance } from './chaos-cluster.ts';
import type { Held } from './fault-proxy.ts';

export interface Mischief {
  readonly name: string;
  readonly weight: number;
  readonly act: (cluster: ChaosCluster, random: () => number) => Promise<void>;
}

const between = (random: () => number, from: number, to: number): number => from + random() * (to - from);

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

async function killed(cluster: ChaosCluster, instance: Instance, awayMs: number): Promise<void> {
  await cluster.end(instance, 'SIGKILL');
  await sleep(awayMs);
  cluster.start(instance);
}

const serverKill = (name: 'kafka' | 'mongo' | 'redis', weight: number): Mischief => ({
  name: `${name} killed and started again`,
  weight,
  act: async ({ servers }, random) => {
    servers[name].kill('SIGKILL');
    await sleep(between(random, 300, 1_500));
    await servers[name].restart();
  },
});

const proxied = ['kafka', 'mongo', 'redis'] as const;

export const mischiefs: readonly Mischief[] = [
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
    // Longer than a session: the others take over while it believes that it still owns.
    name: 'a service stopped and resumed',
    weight: 5,
    act: async (cluster, random) => {
      const instance = pick(cluster.instances, random);
      instance.process.kill('SIGSTOP');
      await sleep(between(random, 500, 7_000));
      instance.process.kill('SIGCONT');
    },
  },
  serverKill('kafka', 1),
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
    act: async ({ proxies }, random) => {
      const proxy = proxies[pick(proxied, random)];
      proxy.latencyMs = between(random, 5, 80);
      await sleep(between(random, 500, 2_000));
      proxy.latencyMs = 0;
    },
  },
  {
    name: 'connections reset',
    weight: 3,
    act: async ({ proxies }, random) => proxies[pick(proxied, random)].cut(),
  },
  {
    name: 'a partition, one way or both',
    weight: 3,
    act: async ({ proxies }, random) => {
      const proxy = proxies[pick(proxied, random)];
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

export function chosen(random: () => number): Mischief {
  const total = mischiefs.reduce((sum, { weight }) => sum + weight, 0);
  let rest = random() * total;
  for (const mischief of mischiefs) {
    rest -= mischief.weight;
    if (rest < 0) return mischief;
  }
  return pick(mischiefs, random);
}
