// Several brokers of one Kafka, each of them a voter of the quorum too, for specs and runs that move partitions and
// lose brokers: every topic has as many copies as there are brokers, and a record is acknowledged when two of them have
// it.
//
// Invariants:
//   B1. Every broker has ports, a directory and a process of its own; one that has ended starts again on the same.
//   B2. `cutTail` shortens what clients have written, never the quorum's own log: the brokers go on being one cluster.
import { copyFileSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePorts } from '../free-ports.ts';
import { runCommand } from '../run-command.ts';
import type { ServerProcess } from '../server-process.ts';
import { ServerMissing, type StartOptions } from '../service.ts';
import { brokerJars, brokerStarter, nodeSettings, propertiesOf, remedy } from './recipe.ts';

export interface Broker {
  readonly node: number;
  /** Where it listens for clients: `host:port`. */
  readonly url: string;
  /** Resolves when its process is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** After `end`, on the same ports and data. */
  start(): Promise<void>;
  kill(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /**
   * Only while it is ended: cuts the last segment of every partition, `share` of its bytes, as a power failure may that
   * lost unflushed data. Returns how many bytes are gone.
   */
  cutTail(share: number): number;
}

export interface SeveralBrokers {
  readonly brokers: readonly Broker[];
  /** Their listeners for each other, which a client may use too: their addresses are not those of a proxy. */
  readonly innerUrls: readonly string[];
  stop(): Promise<void>;
}

export interface SeveralOptions extends Pick<StartOptions, 'directory' | 'cache' | 'say'> {
  /** One broker for each: the port that clients are to use, 0 for the broker's own. */
  readonly advertisedPorts: readonly number[];
}

const heap = '-Xmx256m';
const stopsWithinMs = 20_000;

/** @throws ServerMissing when this machine cannot have a Kafka. */
export async function startSeveralBrokers(options: SeveralOptions): Promise<SeveralBrokers> {
  const { directory, advertisedPorts } = options;
  const jars = await brokerJars(options).catch((error: unknown) => {
    throw new ServerMissing(`no Kafka here: ${(error as Error).message} ${remedy}`);
  });
  const start = await brokerStarter(jars, options);
  const ports = await freePorts(advertisedPorts.length * 3);
  const nodes = advertisedPorts.map((advertised, index) => {
    const [client = 0, inner = 0, controller = 0] = ports.slice(index * 3, index * 3 + 3);
    return { node: index + 1, client, inner, controller, advertised: advertised === 0 ? client : advertised };
  });
  const voters = nodes.map(({ node, controller }) => `${node}@127.0.0.1:${controller}`).join(',');
  const files = nodes.map((ports) => ({ ...ports, ...written(directory, ports, voters, nodes.length) }));
  await format(files, start.classPath);
  const brokers = files.map(({ node, client, properties, log, output }) => {
    let running: ServerProcess | null = null;
    const broker: Broker = {
      node,
      url: `127.0.0.1:${client}`,
      end: async (signal) => {
        await running?.stop(signal, stopsWithinMs);
      },
      start: async () => {
        running = await start.broker({ properties, output, port: client, flags: [heap] }); // (B1)
      },
      kill: (signal) => running?.signal(signal),
      cutTail: (share) => cutTail(log, share),
    };
    return broker;
  });
  const cluster: SeveralBrokers = {
    brokers,
    innerUrls: nodes.map(({ inner }) => `127.0.0.1:${inner}`),
    stop: async () => {
      await Promise.all(brokers.map((broker) => broker.end('SIGKILL')));
    },
  };
  try {
    await Promise.all(brokers.map((broker) => broker.start()));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

interface NodeFiles {
  readonly properties: string;
  readonly log: string;
  readonly output: string;
}

function written(
  directory: string,
  ports: { node: number; client: number; inner: number; controller: number; advertised: number },
  voters: string,
  copies: number,
): NodeFiles {
  const { node, client, inner, controller, advertised } = ports;
  const place = join(directory, `broker-${node}`);
  const log = join(place, 'log');
  mkdirSync(log, { recursive: true });
  const properties = join(place, 'server.properties');
  const settings = {
    ...nodeSettings,
    'node.id': node,
    listeners: `CLIENT://127.0.0.1:${client},BROKER://127.0.0.1:${inner},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${advertised},BROKER://127.0.0.1:${inner}`,
    'listener.security.protocol.map': 'CLIENT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.voters': voters,
    'log.dirs': log,
    'default.replication.factor': copies,
    'min.insync.replicas': Math.min(2, copies),
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': Math.min(2, copies),
    // Leaders go back to the first of a partition's brokers within a second: a new order of them is an election.
    'leader.imbalance.check.interval.seconds': 1,
    'leader.imbalance.per.broker.percentage': 0,
  };
  writeFileSync(properties, propertiesOf(settings));
  return { properties, log, output: join(directory, `kafka-${node}.out`) };
}

/**
 * By Kafka's own tool for the first, whose features all of them begin with: a leader that comes back from an unclean
 * end without its data is not among the copies that may lead.
 */
async function format(nodes: readonly NodeFiles[], classPath: string): Promise<void> {
  const [first, ...others] = nodes;
  if (first === undefined) throw new RangeError('no brokers');
  const id = Buffer.concat([Buffer.from([0]), randomBytes(15)]).toString('base64url'); // never a dash first: it would be a flag
  const tool = ['-cp', classPath, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', first.properties];
  await runCommand('java', [heap, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...tool], { withinMs: 60_000 });
  for (const [index, { log }] of others.entries()) {
    copyFileSync(join(first.log, 'bootstrap.checkpoint'), join(log, 'bootstrap.checkpoint'));
    const own = `directory.id=${Buffer.concat([Buffer.from([0]), randomBytes(15)]).toString('base64url')}`;
    writeFileSync(join(log, 'meta.properties'), `version=1\ncluster.id=${id}\nnode.id=${index + 2}\n${own}\n`);
  }
}

/** (B2) */
function cutTail(log: string, share: number): number {
  let cut = 0;
  for (const partition of readdirSync(log).filter((name) => /-\d+$/.test(name) && !name.startsWith('__cluster'))) {
    const last = readdirSync(join(log, partition))
      .filter((name) => name.endsWith('.log'))
      .toSorted()
      .at(-1);
    if (last === undefined) continue;
    const file = join(log, partition, last);
    const { size } = statSync(file);
    const left = Math.floor(size * (1 - share));
    truncateSync(file, left);
    cut += size - left;
  }
  return cut;
}
