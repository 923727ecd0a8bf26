// Dormouse itself: the standalone app as `npm start` runs it, in its own process, used over its client API only.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Started, startNode } from './child-process.ts';
import { freePort } from '../../test/services/free-ports.ts';
import { type Contestant, oneToolTurn, type Running, turnsUnlimited } from './contestant.ts';
import type { Target } from './driver-job.ts';

const root = join(import.meta.dirname, '..', '..');
const app = join(root, 'apps', 'standalone', 'dist', 'main.js');
/** Node's flags as `npm start` gives them. */
export const startFlags = flagsOf(readFileSync(join(root, 'package.json'), 'utf8'));
const waitSeconds = 60;
const openingsAtOnce = 32;

export interface DormouseOptions {
  readonly tools: string;
  readonly directory: string;
  /** Loads the probe: for counts, never for times. */
  readonly probe?: 'timers' | 'statements' | 'allocations';
  readonly nodeFlags?: readonly string[];
  /** The main file of another build; default: this one's. */
  readonly app?: string;
  /** Settings besides the bench's own. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the threads that are opened; default `worker`. */
  readonly agent?: BenchAgent;
}

export interface RunningDormouse extends Running {
  readonly process: Started;
  readonly url: string;
  readonly dataDirectory: string;
  /** Where the probe of the writer's thread writes its counts. */
  readonly probeFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Ids of new threads of an agent. */
  createThreads(agent: string, count: number): Promise<readonly string[]>;
  /** A turn of a thread: what is posted, and what its answer contains. */
  turnOf(thread: string, turn: Pick<Target, 'body' | 'expect'>): Target;
  get(path: string): Promise<Record<string, unknown>>;
}

/** Agents that every bench database has: `worker` calls `work`, `echo` repeats, `sleeper` calls `hold`. */
export type BenchAgent = 'worker' | 'echo' | 'sleeper';

export const dormouse: Contestant = {
  name: 'dormouse',
  is: 'the standalone app: five services over SQLite in one process',
  durable: 'every event, before it is acknowledged',
  start: (setting) => startDormouse(setting),
};

export async function startDormouse(options: DormouseOptions): Promise<RunningDormouse> {
  const port = await freePort();
  const dataDirectory = join(options.directory, 'data');
  const probeFile = join(options.directory, 'writer-statements.json');
  mkdirSync(dataDirectory, { recursive: true });
  const nodeFlags = [
    ...startFlags,
    ...(options.nodeFlags ?? []),
    ...(options.probe !== undefined ? ['--import', join(import.meta.dirname, 'probe.ts')] : []),
  ];
  const child = await startNode('dormouse', options.app ?? app, options.directory, {
    nodeFlags,
    args: ['--data', dataDirectory, '--port', String(port)],
    environment: {
      DORMOUSE_LOG_LEVEL: 'warn',
      ...options.environment,
      ...(options.probe === 'statements' ? { BENCH_PROBE_FILE: probeFile } : {}),
      ...(options.probe === 'allocations' ? { BENCH_PROBE_ALLOCATIONS: 'true' } : {}),
    },
    ready: /^ready (\S+)/m,
  });
  const url = child.matched?.[1]?.replace(/\/$/, '') ?? '';
  const key = readFileSync(join(dataDirectory, 'key'), 'utf8').trim();
  const client = createClient(url, key);
  await prepare(client, options.tools);
  const createThreads = (agent: string, count: number): Promise<readonly string[]> => openAll(client, agent, count);
  const turnOf = (thread: string, turn: Pick<Target, 'body' | 'expect'>): Target => ({
    url: `${url}/v1/threads/${thread}/messages`,
    headers: { ...client.headers, prefer: `wait=${waitSeconds}` },
    status: 200,
    turnsMax: turnsUnlimited,
    ...turn,
  });
  return {
    name: 'dormouse',
    pids: [child.pid],
    process: child,
    url,
    dataDirectory,
    probeFile,
    headers: client.headers,
    createThreads,
    turnOf,
    get: (path) => client.call('GET', path),
    openThreads: async (count) =>
      (await createThreads(options.agent ?? 'worker', count)).map((thread) => turnOf(thread, oneToolTurn)),
    stop: async () => {
      await child.stop();
    },
  };
}

function flagsOf(packageJson: string): readonly string[] {
  const { scripts } = JSON.parse(packageJson) as { readonly scripts: Readonly<Record<string, string>> };
  const command = scripts['start']?.split(' -- node ')[1]?.split(' ') ?? [];
  const main = command.indexOf('apps/standalone/dist/main.js');
  if (main < 0) throw new Error('`npm start` in package.json does not run apps/standalone/dist/main.js');
  return command.slice(0, main);
}

interface ApiClient {
  readonly headers: Readonly<Record<string, string>>;
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
}

function createClient(url: string, key: string): ApiClient {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    headers,
    call: async (method, path, body) => {
      const sent = method === 'GET' ? { method, headers } : { method, headers, body: JSON.stringify(body ?? {}) };
      const answer = await fetch(url + path, sent);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    },
  };
}

/** Registers what the bench needs; on a second start with the same data everything exists already. */
async function prepare(client: ApiClient, tools: string): Promise<void> {
  await client.call('POST', '/v1/tool-servers', { name: 'bench', base_url: tools });
  const agents: Readonly<Record<BenchAgent, object>> = {
    worker: { model: { provider: 'demo' }, tool_servers: ['bench'] },
    echo: { model: { provider: 'scripted', parameters: { script: [] } } },
    sleeper: {
      model: {
        provider: 'scripted',
        parameters: { script: [[{ tool_call: { name: 'hold', arguments: { text: 'for ever' } } }]] },
      },
      tool_servers: ['bench'],
    },
  };
  for (const [name, agent] of Object.entries(agents)) await client.call('POST', '/v1/agents', { name, ...agent });
}

async function openAll(client: ApiClient, agent: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const wave = Math.min(openingsAtOnce, count - ids.length);
    const opened = await Promise.all(Array.from({ length: wave }, () => client.call('POST', '/v1/threads', { agent })));
    for (const { id } of opened) ids.push(String(id));
  }
  return ids;
}
