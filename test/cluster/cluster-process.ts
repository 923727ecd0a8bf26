// A real cluster as `npm run cluster` starts it: over servers that are there already, with a prefix and a database of
// its own, or over servers that it starts itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { System } from '../e2e/conversation.ts';
import { request } from '../e2e/standalone-process.ts';
import { freeStretch } from '../services/free-ports.ts';

const launcher = fileURLToPath(new URL('../../tools/cluster/cluster.ts', import.meta.url));
const startWithinMs = 220_000;

export interface ServerUrls {
  readonly kafka: string;
  readonly mongo: string;
  readonly redis: string;
}

export interface Cluster extends System {
  readonly directory: string;
  readonly prefix: string;
  readonly database: string;
  readonly servers: ServerUrls;
  /** By name of service, as they were at the start. */
  readonly pids: Readonly<Record<string, number>>;
  /** Of servers that it started, likewise. */
  readonly serverPids: Readonly<Record<string, readonly number[]>>;
  /** Of a cluster that was started with `--observability`. */
  readonly prometheus: string | null;
  /** The query API of its trace store, likewise, where this machine can have one. */
  readonly traces: string | null;
  /** Ctrl-C; resolves with the exit code. */
  stop(): Promise<number | null>;
}

const running = new Set<Cluster>();

export async function startCluster(
  servers: ServerUrls | 'its own',
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  /** Before it starts, with what it is going to use. */
  prepare: (where: Pick<Cluster, 'directory' | 'prefix' | 'database'>) => Promise<void> = async () => {},
): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'dormouse-cluster-'));
  const name = randomBytes(5).toString('hex');
  const [prefix, database] = [`e2e-${name}.`, `e2e_${name}`];
  await prepare({ directory, prefix, database });
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('DORMOUSE_')));
  const port = await freeStretch(20);
  const child = spawn(process.execPath, [launcher, '--data', directory, '--port', String(port), '--json', ...flags], {
    env: {
      ...inherited,
      DORMOUSE_KAFKA_PREFIX: prefix,
      DORMOUSE_KAFKA_PARTITIONS: '4',
      DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '6000',
      ...(servers === 'its own' ? {} : addressesOf(servers, database)),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'], // the channel closes when the tests have died
  });
  const said = { out: '', all: '' };
  child.stdout?.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
    said.all += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => (said.all += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const started = await answerOf(child, said);
  const { url, pids, serverPids, kafka, mongo, redis, prometheus = null, traces = null } = started;
  const key = readFileSync(join(directory, 'key'), 'utf8').trim();
  const cluster: Cluster = {
    ...{ url, key, directory, prefix, database, pids, serverPids, prometheus, traces },
    servers: { kafka, mongo, redis },
    output: () => [said.all, outputIn(directory)].join('\n'),
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    stop: async () => {
      running.delete(cluster);
      child.kill('SIGINT');
      const code = await exit;
      rmSync(directory, { recursive: true, force: true });
      return code;
    },
  };
  running.add(cluster);
  return cluster;
}

function addressesOf({ kafka, mongo, redis }: ServerUrls, database: string): Readonly<Record<string, string>> {
  const url = Object.assign(new URL(mongo), { pathname: `/${database}` }).href;
  return { DORMOUSE_KAFKA_BROKERS: kafka, DORMOUSE_MONGO_URL: url, DORMOUSE_REDIS_URL: redis };
}

/** What the processes of a cluster have printed. */
export const outputIn = (directory: string): string =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.out'))
    .map((name) => readFileSync(join(directory, name), 'utf8'))
    .join('\n');

/** Ends what a spec file started. */
export async function endClusters(): Promise<void> {
  await Promise.all([...running].map((cluster) => cluster.stop()));
}

interface Started extends ServerUrls {
  readonly url: string;
  readonly pids: Readonly<Record<string, number>>;
  readonly serverPids: Readonly<Record<string, readonly number[]>>;
  readonly prometheus?: string;
  readonly traces?: string;
}

async function answerOf(child: ChildProcess, said: { readonly out: string; readonly all: string }): Promise<Started> {
  for (const until = Date.now() + startWithinMs; Date.now() < until; await new Promise((go) => setTimeout(go, 50))) {
    if (said.out.includes('\n')) return JSON.parse(said.out) as Started;
    if (child.exitCode !== null) break;
  }
  child.kill('SIGTERM');
  throw new Error(`the cluster did not start:\n${said.all}`);
}
