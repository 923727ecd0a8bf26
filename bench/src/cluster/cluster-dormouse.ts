// The five services of the cluster as processes, as `npm run cluster` starts them, over the servers of this run.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Started, startNode } from '../child-process.ts';
import { freePort } from '../../../test/services/free-ports.ts';
import { oneToolTurn, type Running, turnsUnlimited } from '../contestant.ts';
import type { Target } from '../driver-job.ts';
import type { ClusterServers } from './cluster-servers.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const mainOf = (app: string): string => join(root, 'apps', app, 'dist', 'main.js');
const waitSeconds = 60;
const openingsAtOnce = 32;

export interface ClusterOptions {
  readonly tools: string;
  readonly directory: string;
  readonly servers: ClusterServers;
  readonly partitions: number;
  /** Long, because processes are stopped for a while between measurements. */
  readonly sessionTimeoutMs: number;
  readonly processors?: number;
  /** An OpenAI-compatible endpoint for the agent `slow`. */
  readonly model?: string;
  /** The store as the thread-processor reaches it. */
  readonly processorMongo?: string;
}

export interface RunningCluster extends Running {
  /** Service processes by name; a second thread-processor is `thread-processor-2`. */
  readonly services: ReadonlyMap<string, Started>;
  openAgentThreads(agent: string, count: number): Promise<readonly string[]>;
  turnOf(thread: string, turn: Pick<Target, 'body' | 'expect'>): Target;
  get(path: string): Promise<Record<string, unknown>>;
  readonly database: string;
}

export async function startCluster(options: ClusterOptions): Promise<RunningCluster> {
  const { servers, directory, tools } = options;
  const name = randomBytes(4).toString('hex');
  const key = `dm_${randomBytes(24).toString('base64url')}`;
  const callbackPort = await freePort();
  const mongoOf = (url: string): string => Object.assign(new URL(url), { pathname: `/bench_${name}` }).href;
  const environment = {
    DORMOUSE_KAFKA_BROKERS: servers.kafka,
    DORMOUSE_KAFKA_PREFIX: `bench-${name}.`,
    DORMOUSE_KAFKA_PARTITIONS: String(options.partitions),
    DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: String(options.sessionTimeoutMs),
    DORMOUSE_MONGO_URL: mongoOf(servers.mongo),
    DORMOUSE_REDIS_URL: servers.redis,
    DORMOUSE_MASTER_KEY: randomBytes(32).toString('hex'),
    DORMOUSE_BOOTSTRAP_KEY: key,
    DORMOUSE_CALLBACK_BASE_URL: `http://127.0.0.1:${callbackPort}`,
    DORMOUSE_OUTBOUND_ALLOW: 'http://127.0.0.0/8',
    DORMOUSE_LOG_LEVEL: 'warn',
  };
  const setup = await startNode('setup', mainOf('ingress-gateway'), directory, { args: ['setup'], environment });
  await untilEnded(setup);
  const services = new Map<string, Started>();
  const ports = new Map<string, number>();
  const healths: number[] = [];
  const start = async (service: string, app: string, port: number, more: Record<string, string> = {}) => {
    const health = await freePort();
    healths.push(health);
    ports.set(service, port);
    const args = ['--host', '127.0.0.1', '--port', String(port), '--health-port', String(health)];
    services.set(
      service,
      await startNode(service, mainOf(app), directory, { args, environment: { ...environment, ...more } }),
    );
  };
  const ofProcessor: Record<string, string> =
    options.processorMongo === undefined ? {} : { DORMOUSE_MONGO_URL: mongoOf(options.processorMongo) };
  for (let nth = 1; nth <= (options.processors ?? 1); nth++)
    await start(
      nth === 1 ? 'thread-processor' : `thread-processor-${nth}`,
      'thread-processor',
      await freePort(),
      ofProcessor,
    );
  for (const app of ['tool-dispatcher', 'notifier', 'ingress-gateway']) await start(app, app, await freePort());
  await start('callback-gateway', 'callback-gateway', callbackPort);
  await Promise.all(healths.map((port) => untilOk(`http://127.0.0.1:${port}/readyz`, services)));
  const url = `http://127.0.0.1:${ports.get('ingress-gateway') ?? 0}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  await call('POST', '/v1/tool-servers', { name: 'bench', base_url: tools });
  await call('POST', '/v1/agents', { name: 'worker', model: { provider: 'demo' }, tool_servers: ['bench'] });
  if (options.model !== undefined) {
    const model = { provider: 'openai-compatible', name: 'slow', base_url: options.model };
    await call('POST', '/v1/agents', { name: 'slow', model });
  }
  const turnOf = (thread: string, turn: Pick<Target, 'body' | 'expect'>): Target => ({
    url: `${url}/v1/threads/${thread}/messages`,
    headers: { ...headers, prefer: `wait=${waitSeconds}` },
    status: 200,
    turnsMax: turnsUnlimited,
    ...turn,
  });
  const openAgentThreads = async (agent: string, count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    while (ids.length < count) {
      const wave = Math.min(openingsAtOnce, count - ids.length);
      const opened = await Promise.all(Array.from({ length: wave }, () => call('POST', '/v1/threads', { agent })));
      for (const { id } of opened) ids.push(String(id));
    }
    return ids;
  };
  return {
    name: 'dormouse',
    get pids() {
      return [...services.values()].map(({ pid }) => pid);
    },
    services,
    database: `bench_${name}`,
    openAgentThreads,
    turnOf,
    get: (path) => call('GET', path),
    openThreads: async (count) =>
      (await openAgentThreads('worker', count)).map((thread) => turnOf(thread, oneToolTurn)),
    stop: async () => {
      await Promise.all([...services.values()].map((service) => service.stop(20_000)));
    },
  };
}

async function untilEnded(child: Started): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(100)) {
    try {
      process.kill(child.pid, 0);
    } catch {
      return;
    }
  }
  throw new Error(`setup did not end: ${child.output().slice(-1_500)}`);
}

async function untilOk(url: string, services: ReadonlyMap<string, Started>): Promise<void> {
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(100)) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null); // not listening yet
    if (answer?.ok === true) return;
  }
  const said = [...services].map(([name, service]) => `${name}: ${service.output().slice(-600)}`).join('\n');
  throw new Error(`${url} is not ready\n${said}`);
}
