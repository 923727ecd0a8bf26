// The processes the bench starts: each known by its pid, each stopped by its pid, none left behind.
//
// Invariants:
//   B7. Only processes that were started here are ever signalled. When the bench ends, however it ends, its children
//       end.
//   B8. A child's output goes to a file in the bench's directory; a child that dies too early is reported with its end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface StartOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Where its output is kept. */
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Waits until the output matches; a child that speaks IPC says `ready` instead. */
  readonly ready?: RegExp;
  readonly readyWithinMs?: number;
}

export interface Started {
  readonly pid: number;
  readonly name: string;
  /** The whole output so far. */
  output(): string;
  /** What `ready` matched. */
  readonly matched: RegExpExecArray | null;
  /** Sends a message and waits for the answer. */
  ask(message: object): Promise<unknown>;
  /** SIGTERM, then SIGKILL when it takes longer than `withinMs`. Resolves to the exit code, or null after a kill. */
  stop(withinMs?: number): Promise<number | null>;
}

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL'); // (B7)
});

export async function start(options: StartOptions): Promise<Started> {
  const file = join(options.directory, `${options.name}.out`);
  const output = openSync(file, 'a');
  const from = readFileSync(file).length;
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...inheritedEnvironment(), ...options.environment },
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  alive.add(child);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      alive.delete(child);
      resolve(code);
    });
    child.once('error', () => resolve(null));
  });
  const text = (): string => readFileSync(file, 'utf8').slice(from);
  const matched = options.ready ? await readyText(child, options, options.ready, text) : null;
  return {
    pid: child.pid ?? 0,
    name: options.name,
    output: text,
    matched,
    ask: (message) => ask(child, options.name, message, text),
    stop: async (withinMs = 10_000) => {
      if (!alive.has(child)) return exited;
      child.kill('SIGTERM');
      const code = await Promise.race([exited, sleep(withinMs, 'late' as const)]);
      if (code !== 'late') return code;
      child.kill('SIGKILL');
      await exited;
      return null;
    },
  };
}

/** Settings of Dormouse and flags of Node from the user's shell must not affect a measurement. */
function inheritedEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_') && name !== 'NODE_OPTIONS'),
  );
}

async function readyText(
  child: ChildProcess,
  options: StartOptions,
  ready: RegExp,
  text: () => string,
): Promise<RegExpExecArray> {
  const until = Date.now() + (options.readyWithinMs ?? 30_000);
  while (Date.now() < until) {
    const found = ready.exec(text());
    if (found) return found;
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) break;
    await sleep(10);
  }
  throw new Error(`${options.name} did not get ready: ${text().slice(-1_500)}`); // (B8)
}

async function ask(child: ChildProcess, name: string, message: object, text: () => string): Promise<unknown> {
  const answered = new AbortController();
  const signal = answered.signal;
  const gone = once(child, 'exit', { signal }).then(() => {
    throw new Error(`${name} ended: ${text().slice(-1_500)}`);
  });
  gone.catch(() => {});
  const answer = once(child, 'message', { signal }).then(([value]: unknown[]) => value);
  child.send(message);
  try {
    return await Promise.race([answer, gone]);
  } finally {
    answered.abort();
  }
}

/** A TypeScript or JavaScript file as a process of the same Node. */
export function startNode(
  name: string,
  script: string,
  directory: string,
  more: Partial<StartOptions> & { readonly nodeFlags?: readonly string[] } = {},
): Promise<Started> {
  const args = [...(more.nodeFlags ?? []), script, ...(more.args ?? [])];
  return start({ ...more, name, directory, command: process.execPath, args });
}
