// The contestants beside Dormouse, from bench/peers: installed on request only, started as their documentation says.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Started, startNode, start } from './child-process.ts';
import { freePort } from '../../test/services/free-ports.ts';
import { type Contestant, oneToolTurn, type Running, type Setting } from './contestant.ts';

const peers = join(import.meta.dirname, '..', 'peers');
const json = { 'content-type': 'application/json' };

export const peersAreInstalled = (): boolean => existsSync(join(peers, 'node_modules', 'express'));
const restateBinary = join(
  peers,
  'node_modules',
  '@restatedev',
  `restate-server-${process.platform}-${process.arch}`,
  'bin',
  'restate-server',
);

/** The packages in the lock, from the registry that npm is configured for; no install scripts. */
export function installPeers(): void {
  const npm = process.env['npm_execpath'];
  const flags = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const byNpm = npm?.endsWith('.js') === true && existsSync(npm);
  const [command, args] = byNpm ? [process.execPath, [npm, ...flags]] : ['npm', flags];
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^npm_(lifecycle|package)_/i.test(key)),
  );
  const ran = spawnSync(command, args, {
    cwd: peers,
    stdio: ['ignore', 2, 2],
    env: environment,
    shell: process.platform === 'win32' && !byNpm,
  });
  if (ran.status !== 0) throw new Error('npm ci in bench/peers failed (above)');
}

export function availablePeers(): readonly Contestant[] {
  if (!peersAreInstalled()) return [];
  return [tutorial('fetch'), tutorial('undici'), ...(existsSync(restateBinary) ? [restate(false), restate(true)] : [])];
}

function tutorial(http: 'fetch' | 'undici'): Contestant {
  const name = `tutorial-${http}`;
  return {
    name,
    is: `Express 5, history in memory, ${http === 'fetch' ? 'one global fetch per tool call' : 'tool calls over an undici pool'}`,
    durable: 'nothing',
    start: async ({ tools, directory }) => {
      const port = await freePort();
      const args = ['--http', http, '--tools', tools, '--port', String(port)];
      const child = await startNode(name, join(peers, 'tutorial.mjs'), directory, { args, ready: /^ready /m });
      return running(name, [child], async () => {
        const { id } = await post(`http://127.0.0.1:${port}/threads`, {});
        return `http://127.0.0.1:${port}/threads/${String(id)}/messages`;
      });
    },
  };
}

function restate(lean: boolean): Contestant {
  const name = lean ? 'restate-lean' : 'restate';
  return {
    name,
    is: lean
      ? 'Restate without history and with completions not journaled'
      : 'Restate server and TypeScript SDK, one virtual object per thread',
    durable: lean ? 'the invocation and the tool call' : 'the invocation, every step and the history',
    start: (setting) => startRestate(name, lean, setting),
  };
}

async function startRestate(name: string, lean: boolean, { tools, directory }: Setting): Promise<Running> {
  const [ingress, admin, node, service] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const base = join(directory, 'restate');
  mkdirSync(base, { recursive: true });
  const environment = {
    RESTATE_BASE_DIR: base,
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_BIND_PORT: String(node),
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'warn',
    DO_NOT_TRACK: '1',
  };
  const server = await start({
    name: `${name}-server`,
    command: restateBinary,
    args: ['--no-logo'],
    directory,
    environment,
    cwd: base,
  });
  await answers(`http://127.0.0.1:${admin}/health`, server);
  await answers(`http://127.0.0.1:${ingress}/restate/health`, server);
  const url = `http://127.0.0.1:${ingress}`;
  const args = ['--tools', tools, '--port', String(service), '--ingress', url, ...(lean ? ['--lean'] : [])];
  const child = await startNode(`${name}-service`, join(peers, 'restate-service.mjs'), directory, {
    args,
    ready: /^ready$/m,
    environment: { RESTATE_LOGGING: 'ERROR', NODE_ENV: 'production' },
  });
  await post(`http://127.0.0.1:${admin}/deployments`, { uri: `http://127.0.0.1:${service}` });
  let threads = 0;
  return running(name, [child, server], () => {
    threads += 1;
    return Promise.resolve(`${url}/thread/thread-${threads}/message`);
  });
}

function running(name: string, children: readonly Started[], open: () => Promise<string>): Running {
  return {
    name,
    pids: children.map((child) => child.pid),
    openThreads: async (count) => {
      const targets = [];
      for (let opened = 0; opened < count; opened++) targets.push({ ...oneToolTurn, url: await open(), headers: json });
      return targets;
    },
    stop: async () => {
      for (const child of children) await child.stop(5_000);
    },
  };
}

async function answers(url: string, server: Started): Promise<void> {
  for (const until = Date.now() + 30_000; Date.now() < until;) {
    const answer = await fetch(url).catch(() => null); // not listening yet
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} does not answer: ${server.output().slice(-1_500)}`);
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as Record<string, unknown>;
}
