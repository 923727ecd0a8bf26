// A cluster for faults: two of each service as processes, three brokers of Kafka, a store and a Redis, and a fault
// proxy before each of them. Three copies of every topic; a record is acknowledged when two of them have it.
//
// Invariants:
//   C1. Only what was started here is signalled, by pid; it all ends with `close`, and with this process.
//   C2. A service finds the servers, and tool servers find the callback gateways, through proxies only; a Redis that
//       was given is found without one.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Answer, request, type Sent } from '../e2e/standalone-process.ts';
import { freePorts } from '../services/free-ports.ts';
import { type SeveralBrokers, startSeveralBrokers } from '../services/kafka/several-brokers.ts';
import { startOwnServers } from '../services/own-servers.ts';
import { type RunningService, ServerMissing, type StartOptions } from '../services/service.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { createPartitionMover, type PartitionMover } from './partition-mover.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const serviceNames = [
  'ingress-gateway',
  'callback-gateway',
  'thread-processor',
  'tool-dispatcher',
  'notifier',
] as const;
export type ServiceName = (typeof serviceNames)[number];
export const instances = 2;
const brokerCount = 3;
const readyWithinMs = 180_000;
/** Of one question: an answer that never comes must not keep this from asking again. */
const answersWithinMs = 5_000;
const loweredLimits = new URL('lowered-limits.ts', import.meta.url).href;
const topics = ['rap.inputs', 'rap.dispatches', 'rap.notices', '__consumer_offsets'];

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL'); // (C1) `server-process.ts` ends servers
});

export interface Instance {
  readonly name: ServiceName;
  readonly label: string;
  readonly port: number;
  readonly health: number;
  process: ChildProcess;
  /** Where its program was built, and modules that it loads first; a later `start` takes what these are then. */
  root: string;
  imports: readonly string[];
}

export interface ClusterVariant {
  /** Its URL, instead of a Redis that is started here. */
  readonly redis?: RunningService;
  /** What all services are given instead of the few places of a chaos run. */
  readonly places?: 'few' | 'usual';
  /** The checkout whose programs run at first. Default: this one. */
  readonly root?: string;
  /** Of Kafka, with as many copies of each topic. Default: three. */
  readonly brokers?: number;
}

export interface ChaosCluster {
  readonly instances: readonly Instance[];
  readonly servers: Readonly<Record<'mongo' | 'redis', RunningService>>;
  readonly kafka: SeveralBrokers;
  readonly partitions: PartitionMover;
  readonly proxies: Readonly<Record<'mongo' | 'redis', FaultProxy>> & { readonly kafka: readonly FaultProxy[] };
  request(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  start(instance: Instance): void;
  /** Resolves when it has ended. */
  end(instance: Instance, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  untilReady(instances?: readonly Instance[]): Promise<void>;
  /** As an upgrade does first, with the programs of this checkout. */
  setUp(root: string): Promise<void>;
  /** How often each event occurs in the logs of all services. */
  loggedEvents(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export async function startChaosCluster(
  directory: string,
  cache: string,
  say: (line: string) => void,
  variant: ClusterVariant = {},
): Promise<ChaosCluster> {
  const closing: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    return await start({ directory, cache, say }, variant, closing, closeAll);
  } catch (error) {
    await closeAll(); // (C1) also of one that never came up
    throw error;
  }
}

async function start(
  { directory, cache, say }: Pick<StartOptions, 'directory' | 'cache' | 'say'>,
  variant: ClusterVariant,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<ChaosCluster> {
  const proxy = async (): Promise<FaultProxy> => {
    const started = await startFaultProxy();
    closing.push(() => started.close());
    return started;
  };
  const before = {
    kafka: await Promise.all(Array.from({ length: variant.brokers ?? brokerCount }, proxy)),
    ...{ mongo: await proxy(), redis: await proxy() },
  };
  const doors = { ingress: await proxy(), callbacks: await proxy() };
  const kafka = await startSeveralBrokers({
    ...{ directory: join(directory, 'kafka'), cache, say },
    advertisedPorts: before.kafka.map(({ port }) => port),
  });
  closing.push(() => kafka.stop());
  for (const [index, { url }] of kafka.brokers.entries()) {
    const standing = before.kafka[index];
    if (standing !== undefined) standing.targets = [portOf(url)];
  }
  const own = await startOwnServers(
    directory,
    (name) => ({ cache, say, ...(name === 'kafka' ? {} : { advertisedPort: before[name].port }) }),
    variant.redis === undefined ? ['mongo', 'redis'] : ['mongo'],
  );
  for (const each of own.servers.values()) closing.push(() => each.stop());
  const [database, hints] = [own.servers.get('mongo'), variant.redis ?? own.servers.get('redis')];
  if (database === undefined || hints === undefined) throw new ServerMissing(own.missing ?? undefined);
  const servers = { mongo: database, redis: hints };
  before.mongo.targets = [portOf(servers.mongo.url)];
  if (variant.redis === undefined) before.redis.targets = [portOf(servers.redis.url)];
  const ports = await freePorts(serviceNames.length * instances * 2);
  const key = randomBytes(24).toString('hex');
  const environment: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([k, v]) => (k.startsWith('DORMOUSE_') || v === undefined ? [] : [[k, v]])),
    ),
    DORMOUSE_KAFKA_BROKERS: before.kafka.map(({ port }) => `127.0.0.1:${port}`).join(','),
    DORMOUSE_KAFKA_PARTITIONS: '8',
    DORMOUSE_KAFKA_REPLICATION: String(before.kafka.length),
    DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '4000',
    DORMOUSE_MONGO_URL: `mongodb://127.0.0.1:${before.mongo.port}/chaos?directConnection=true`,
    DORMOUSE_REDIS_URL: variant.redis?.url ?? `redis://127.0.0.1:${before.redis.port}`, // (C2)
    DORMOUSE_MASTER_KEY: randomBytes(32).toString('hex'),
    DORMOUSE_BOOTSTRAP_KEY: key,
    DORMOUSE_CALLBACK_BASE_URL: `http://127.0.0.1:${doors.callbacks.port}`,
    DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8',
    DORMOUSE_TOOL_RETRY_FIRST_MS: '50',
    DORMOUSE_TOOL_ACK_TIMEOUT_MS: '2000',
    DORMOUSE_UNKNOWN_OUTCOME_GRACE_MS: '1000',
    DORMOUSE_LOG_LEVEL: 'info',
  };
  mkdirSync(join(directory, 'out'), { recursive: true });

  const limits = variant.places === 'usual' ? [] : [loweredLimits];

  function run(
    label: string,
    app: string,
    args: readonly string[],
    builtIn: string,
    imports: readonly string[] = limits,
  ): ChildProcess {
    const output = openSync(join(directory, 'out', `${label}.out`), 'a');
    const program = [...imports.flatMap((each) => ['--import', each]), join(builtIn, 'apps', app, 'dist', 'main.js')];
    const child = spawn(process.execPath, [...program, ...args], {
      env: environment,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    alive.add(child);
    child.once('exit', () => alive.delete(child));
    return child;
  }

  const argsOf = ({ port, health }: Pick<Instance, 'port' | 'health'>): readonly string[] => [
    ...['--port', String(port), '--health-port', String(health)],
  ];
  const setUp = async (builtIn: string): Promise<void> => {
    const setup = run('setup', 'ingress-gateway', ['setup'], builtIn);
    const code = await new Promise((resolve) => setup.once('exit', resolve));
    if (code !== 0) throw new Error(`setup failed: ${readFileSync(join(directory, 'out', 'setup.out'), 'utf8')}`);
  };
  const firstRoot = variant.root ?? root;
  await setUp(firstRoot);
  const all = serviceNames.flatMap((name, service) =>
    Array.from({ length: instances }, (_, index): Instance => {
      const at = (service * instances + index) * 2;
      const where = { port: ports[at] ?? 0, health: ports[at + 1] ?? 0 };
      const label = `${name}-${index + 1}`;
      const process = run(label, name, argsOf(where), firstRoot);
      return { name, label, ...where, root: firstRoot, imports: limits, process };
    }),
  );
  closing.push(async () => {
    for (const instance of all) instance.process.kill('SIGCONT');
    await Promise.all(all.map((instance) => cluster.end(instance, 'SIGKILL'))); // (C1)
  });
  const portsOf = (wanted: ServiceName): readonly number[] =>
    all.filter(({ name }) => name === wanted).map(({ port }) => port);
  doors.ingress.targets = portsOf('ingress-gateway');
  doors.callbacks.targets = portsOf('callback-gateway');
  const url = `http://127.0.0.1:${doors.ingress.port}`;
  const partitions = await createPartitionMover(kafka.innerUrls, topics);
  closing.push(() => partitions.close());

  const cluster: ChaosCluster = {
    instances: all,
    ...{ servers, kafka, partitions },
    proxies: before,
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    start: (instance) => {
      const { label, name, root: builtIn, imports } = instance;
      instance.process = run(label, name, argsOf(instance), builtIn, imports);
    },
    end: async (instance, signal) => {
      const child = instance.process;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
    untilReady: async (wanted = all) => {
      for (const instance of wanted) await ready(instance, directory);
    },
    setUp,
    loggedEvents: () => loggedEvents(join(directory, 'out')),
    close,
  };
  await cluster.untilReady();
  return cluster;
}

const portOf = (url: string): number => Number(/:(\d+)(?:\/|$)/.exec(url)?.[1]);

async function ready({ label, health }: Instance, directory: string): Promise<void> {
  let answered = 'nothing';
  for (const until = Date.now() + readyWithinMs; Date.now() < until; await sleep(50)) {
    try {
      const answer = await fetch(`http://127.0.0.1:${health}/readyz`, { signal: AbortSignal.timeout(answersWithinMs) });
      if (answer.ok) return;
      answered = await answer.text();
    } catch {
      // It does not listen yet.
    }
  }
  const said = readFileSync(join(directory, 'out', `${label}.out`), 'utf8').slice(-2_000);
  throw new Error(`${label} is not ready: it answered ${answered} last, and printed ${said}`);
}

function loggedEvents(directory: string): ReadonlyMap<string, number> {
  const counted = new Map<string, number>();
  for (const file of readdirSync(directory)) {
    for (const [, event = ''] of readFileSync(join(directory, file), 'utf8').matchAll(/"event":"([a-z_]+)"/g))
      counted.set(event, (counted.get(event) ?? 0) + 1);
  }
  return counted;
}
