// A server as a child process: its output in a file, its port awaited, ended by its own pid.
//
// Invariants:
//   V1. Only processes that were started here are signalled; when this process ends, they end too.
//   V2. A server that dies before it listens is reported with the end of its output.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM (or another), then SIGKILL when that takes longer than `withinMs`. */
  stop(signal?: NodeJS.Signals, withinMs?: number): Promise<void>;
}

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL'); // (V1)
});

export async function startServer(options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly output: string;
  readonly port: number;
  readonly withinMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The program's name for itself. */
  readonly argv0?: string;
}): Promise<ServerProcess> {
  const output = openSync(options.output, 'a');
  const child = spawn(options.command, options.args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...options.environment },
    argv0: options.argv0,
  });
  closeSync(output);
  alive.add(child);
  let gone = false;
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      gone = true;
      alive.delete(child);
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  await listening(options.port, options.withinMs, () => gone, options.output);
  return {
    pid: child.pid ?? 0,
    exited,
    signal: (signal) => void child.kill(signal),
    stop: async (signal = 'SIGTERM', withinMs = 10_000) => {
      child.kill(signal);
      const late = sleep(withinMs, 'late' as const, { ref: false });
      if ((await Promise.race([exited, late])) === 'late') child.kill('SIGKILL');
      await exited;
    },
  };
}

async function listening(port: number, withinMs: number, gone: () => boolean, output: string): Promise<void> {
  const until = Date.now() + withinMs;
  while (Date.now() < until && !gone()) {
    if (await accepts(port)) return;
    await sleep(25);
  }
  const said = readFileSync(output, 'utf8').slice(-2_000);
  throw new Error(`no server on port ${port}${gone() ? ': it ended' : ` within ${withinMs} ms`}. ${said}`); // (V2)
}

export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // refused: not yet
  } finally {
    socket.destroy();
  }
}
