// A cluster to be hurt: two of each service as processes, real servers, and a fault proxy before each of them.
//
// Invariants:
//   C1. Only what was started here is signalled, by pid; it all ends with `close`.
//   C2. A service finds the servers, and tool servers find the callback gateways, through proxies only.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Answer, request, type Sent } from '../e2e/standalone-process.ts';
import { freePorts } from '../services/free-ports.ts';
import { startOwnServers } from '../services/own-servers.ts';
import { type RunningService, ServerMissing } from '../services/service.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const serviceNames = [
  'ingress-gateway',
  'callback-gateway',
  'thread-processor',
  'tool-dispatcher',
  'notifier',
] as const;
export type ServiceName = (typeof serviceNames)[number];
const instances = 2;
const readyWithinMs = 60_000;

export interface Instance {
  readonly name: ServiceName;
  readonly label: string;
  readonly port: number;
  readonly health: number;
  process: ChildProcess;
}

export interface ChaosCluster {
  readonly instances: readonly Instance[];
  readonly servers: Readonly<Record<'kafka' | 'mongo' | 'redis', RunningService>>;
  readonly proxies: Readonly<Record<'kafka' | 'mongo' | 'redis', FaultProxy>>;
  request(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  start(instance: Instance): void;
  /** Resolves when it is gone. */
  end(instance: Instance, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  untilReady(): Promise<void>;
  /** How often each event stands in the logs of all services. */
  loggedEvents(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export async function startChaosCluster(
  directory: string,
  cache: string,
  say: (line: string) => void,
): Promise<ChaosCluster> {
  const before = { kafka: await startFaultProxy(), mongo: await startFaultProxy(), redis: await startFaultProxy() };
  const own = await startOwnServers(directory, (name) => ({ cache, say, advertisedPort: before[name].port }));
  const [brokers, database, hints] = [own.servers.get('kafka'), own.servers.get('mongo'), own.servers.get('redis')];
  if (brokers === undefined || database === undefined || hints === undefined) {
    for (const each of own.servers.values()) await each.stop();
    for (const proxy of Object.values(before)) await proxy.close();
    throw new ServerMissing(own.missing ?? undefined);
  }
  const servers = { kafka: brokers, mongo: database, redis: hints };
  for (const name of ['kafka', 'mongo', 'redis'] as const) before[name].targets = [portOf(servers[name].url)];
  const ports = await freePorts(serviceNames.length * instances * 2);
  const doors = { ingress: await startFaultProxy(), callbacks: await startFaultProxy() };
  const key = randomBytes(24).toString('hex');
  const environment: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([k, v]) => (k.startsWith('DORMOUSE_') || v === undefined ? [] : [[k, v]])),
    ),
    DORMOUSE_KAFKA_BROKERS: `127.0.0.1:${before.kafka.port}`,
    DORMOUSE_KAFKA_PARTITIONS: '8',
    DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '4000',
    DORMOUSE_MONGO_URL: `mongodb://127.0.0.1:${before.mongo.port}/chaos?directConnection=true`,
    DORMOUSE_REDIS_URL: `redis://127.0.0.1:${before.redis.port}`,
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

  function run(label: string, app: string, args: readonly string[]): ChildProcess {
    const output = openSync(join(directory, 'out', `${label}.out`), 'a');
    const child = spawn(process.execPath, [join(root, 'apps', app, 'dist', 'main.js'), ...args], {
      env: environment,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    return child;
  }

  const argsOf = ({ port, health }: Pick<Instance, 'port' | 'health'>): readonly string[] => [
    ...['--port', String(port), '--health-port', String(health)],
  ];
  const setup = run('setup', 'ingress-gateway', ['setup']);
  const code = await new Promise((resolve) => setup.once('exit', resolve));
  if (code !== 0) throw new Error(`setup failed: ${readFileSync(join(directory, 'out', 'setup.out'), 'utf8')}`);
  const all = serviceNames.flatMap((name, service) =>
    Array.from({ length: instances }, (_, index): Instance => {
      const at = (service * instances + index) * 2;
      const where = { port: ports[at] ?? 0, health: ports[at + 1] ?? 0 };
      const label = `${name}-${index + 1}`;
      return { name, label, ...where, process: run(label, name, argsOf(where)) };
    }),
  );
  const portsOf = (wanted: ServiceName): readonly number[] =>
    all.filter(({ name }) => name === wanted).map(({ port }) => port);
  doors.ingress.targets = portsOf('ingress-gateway');
  doors.callbacks.targets = portsOf('callback-gateway');
  const url = `http://127.0.0.1:${doors.ingress.port}`;

  const cluster: ChaosCluster = {
    instances: all,
    servers,
    proxies: before,
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    start: (instance) => {
      instance.process = run(instance.label, instance.name, argsOf(instance));
    },
    end: async (instance, signal) => {
      const child = instance.process;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
    untilReady: async () => {
      for (const instance of all) await ready(instance, directory);
    },
    loggedEvents: () => loggedEvents(join(directory, 'out')),
    close: async () => {
      for (const instance of all) instance.process.kill('SIGCONT');
      await Promise.all(all.map((instance) => cluster.end(instance, 'SIGKILL'))); // (C1)
      await Promise.all(Object.values(servers).map((server) => server.stop()));
      for (const proxy of [...Object.values(before), ...Object.values(doors)]) await proxy.close();
    },
  };
  try {
    await cluster.untilReady();
    return cluster;
  } catch (error) {
    await cluster.close(); // (C1) also of one that never came up
    throw error;
  }
}

const portOf = (url: string): number => Number(/:(\d+)(?:\/|$)/.exec(url)?.[1]);

async function ready({ label, health }: Instance, directory: string): Promise<void> {
  for (const until = Date.now() + readyWithinMs; Date.now() < until; await sleep(50)) {
    try {
      if ((await fetch(`http://127.0.0.1:${health}/readyz`)).ok) return;
    } catch {
      // It does not listen yet.
    }
  }
  const said = readFileSync(join(directory, 'out', `${label}.out`), 'utf8').slice(-2_000);
  throw new Error(`${label} is not ready: ${said}`);
}

function loggedEvents(directory: string): ReadonlyMap<string, number> {
  const counted = new Map<string, number>();
  for (const file of readdirSync(directory)) {
    for (const [, event = ''] of readFileSync(join(directory, file), 'utf8').matchAll(/"event":"([a-z_]+)"/g))
      counted.set(event, (counted.get(event) ?? 0) + 1);
  }
  return counted;
}
