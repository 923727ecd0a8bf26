// The naive build of the same services (bench/naive), over the same servers.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { type Started, startNode } from '../child-process.ts';
import { freePort } from '../../../test/services/free-ports.ts';
import { oneToolTurn, type Running } from '../contestant.ts';
import type { ClusterOptions } from './cluster-dormouse.ts';

const scriptOf = (name: string): string => join(import.meta.dirname, '..', '..', 'naive', `${name}.ts`);
const json = { 'content-type': 'application/json' };

export interface RunningNaive extends Running {
  /** URLs to post messages to. */
  openUrls(count: number): Promise<readonly string[]>;
}

export async function startNaive(
  options: Omit<ClusterOptions, 'processors' | 'processorMongo'>,
): Promise<RunningNaive> {
  const { servers, directory, tools, partitions } = options;
  const prefix = `naive-${randomBytes(4).toString('hex')}.`;
  await makeTopics(servers.kafka, prefix, partitions);
  const [ingressPort, callbackPort] = [await freePort(), await freePort()];
  const mongo = Object.assign(new URL(servers.mongo), { pathname: `/${prefix.replace(/\W/g, '_')}` }).href;
  const common = ['--kafka', servers.kafka, '--mongo', mongo, '--redis', servers.redis, '--prefix', prefix];
  const timing = ['--session', String(options.sessionTimeoutMs)];
  const children: Started[] = [];
  const start = async (name: string, args: readonly string[]): Promise<void> => {
    const options = { args: [...common, ...timing, ...args], ready: /^ready$/m, readyWithinMs: 90_000 };
    children.push(await startNode(`naive-${name}`, scriptOf(name), directory, options));
  };
  await start('callback', ['--port', String(callbackPort)]);
  await start('dispatcher', ['--tools', tools, '--callback', `http://127.0.0.1:${callbackPort}/callback`]);
  await start('processor', options.model === undefined ? [] : ['--model', options.model]);
  await start('ingress', ['--port', String(ingressPort)]);
  const url = `http://127.0.0.1:${ingressPort}`;
  const openUrls = async (count: number): Promise<readonly string[]> => {
    const urls: string[] = [];
    for (let opened = 0; opened < count; opened++) {
      const answer = await fetch(`${url}/threads`, { method: 'POST', headers: json, body: '{}' });
      const { id } = (await answer.json()) as { readonly id: string };
      urls.push(`${url}/threads/${id}/messages`);
    }
    return urls;
  };
  return {
    name: 'naive',
    pids: children.map(({ pid }) => pid),
    openUrls,
    openThreads: async (count) =>
      (await openUrls(count)).map((target) => ({ ...oneToolTurn, url: target, headers: json })),
    stop: async () => {
      for (const child of children) await child.stop(3_000);
    },
  };
}

async function makeTopics(broker: string, prefix: string, numPartitions: number): Promise<void> {
  const admin = new Kafka({ brokers: broker.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = ['inputs', 'dispatches'].map((name) => ({ topic: `${prefix}${name}`, numPartitions }));
  await admin.createTopics({ topics, waitForLeaders: true });
  await admin.disconnect();
}
