// A real standalone process on a free port and a directory of its own, and a plain HTTP client for it. Runs the built
// programs (`npm test` builds first), because users start those.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patienceMs } from '../patience.ts';
import { freePort } from '../services/free-ports.ts';

const main = fileURLToPath(new URL('../../apps/standalone/dist/main.js', import.meta.url));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; fails when it is none. */
  readonly json: Json;
}

// Bodies from outside, read untyped: a test that is wrong about a shape fails at once.
export type Json = ReturnType<typeof JSON.parse>;

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** Null for a request without a key. */
  readonly key?: string | null;
}

export interface Standalone {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly key: string;
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Sends JSON (or a text as it is) and reads the whole answer. */
  request(method: string, path: string, body?: unknown, sent?: Sent): Promise<Answer>;
  /** Stops it and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  readonly dataDir?: string;
  readonly port?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const directories: string[] = [];
const running = new Set<ChildProcess>();

/** Ends what a spec file started and removes what it wrote. */
export async function cleanUp(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}

export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dormouse-e2e-'));
  directories.push(directory);
  return directory;
}

/** Starts and waits for the line `ready <url>`. @throws with the output when the process ends before. */
export async function startStandalone(options: StartOptions = {}): Promise<Standalone> {
  const dataDir = options.dataDir ?? (await scratchDirectory());
  const port = options.port ?? (await freePort());
  const child = spawnStandalone(['--data', dataDir, '--port', String(port), ...(options.args ?? [])], options.env);
  const url = await ready(child);
  const key = (await readFile(join(dataDir, 'key'), 'utf8')).trim();
  return {
    url,
    port,
    dataDir,
    key,
    process: child.process,
    output: child.output,
    request: (method, path, body, sent) => request(url, key, method, path, body, sent),
    stop: (signal = 'SIGINT') => {
      child.process.kill(signal);
      return child.exit;
    },
  };
}

export interface Spawned {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

/** A process that may refuse to start. */
export function spawnStandalone(args: readonly string[], env: Readonly<Record<string, string>> = {}): Spawned {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exit = new Promise<number | null>((resolve) =>
    child.on('close', (code) => {
      running.delete(child);
      resolve(code);
    }),
  );
  return { process: child, output: () => text, exit };
}

async function ready(child: Spawned): Promise<string> {
  const deadline = Date.now() + patienceMs;
  const ended = child.exit.then((code) => {
    throw new Error(`the process ended with ${code}:\n${child.output()}`);
  });
  for (;;) {
    const url = /^ready (\S+)$/m.exec(child.output())?.[1];
    if (url !== undefined) {
      ended.catch(() => undefined);
      return url;
    }
    if (Date.now() > deadline) throw new Error(`not ready in time:\n${child.output()}`);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
}

/** Sends JSON (or a text as it is) and reads the whole answer. */
export async function request(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  sent: Sent = {},
): Promise<Answer> {
  const bearer = sent.key === undefined ? key : sent.key;
  const headers = {
    ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...sent.headers,
  };
  const raw =
    typeof body === 'string' || body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body);
  const response = await fetch(url + path, { method, headers, body: raw as string | undefined });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}
