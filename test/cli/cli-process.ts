// Runs the command line tool: in this process where only its output matters, in one of its own where signals, pipes and
// the environment do, and at a terminal.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCli as runTool } from '@dormouse/cli';
import { patienceMs } from '../patience.ts';
import type { Standalone } from '../e2e/standalone-process.ts';
import { visibleText } from './visible-text.ts';

export const launcher = fileURLToPath(new URL('../../apps/cli/bin/dormouse.mjs', import.meta.url));

export interface CliRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunningCli {
  readonly stdout: () => string;
  readonly done: Promise<CliRun>;
  kill(signal: NodeJS.Signals): void;
  /** Stops reading what it prints, as `| head` does. */
  closeOutput(): void;
}

export const connectionFlags = (at: Standalone): readonly string[] => ['--url', at.url, '--data', at.dataDir];

export function startCli(args: readonly string[], options: CliOptions = {}): RunningCli {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
  const child = spawn(process.execPath, [launcher, ...args], { env: { ...inherited, ...options.env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => undefined); // it may end without having read
  child.stdin.end(options.input ?? '');
  const done = new Promise<CliRun>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  return {
    stdout: () => stdout,
    done,
    kill: (signal) => child.kill(signal),
    closeOutput: () => child.stdout.destroy(),
  };
}

export const runProcess = (args: readonly string[], options?: CliOptions): Promise<CliRun> =>
  startCli(args, options).done;

/** The same without a process: starting one is most of a command's cost. */
export async function runCli(args: readonly string[], options: { readonly input?: string } = {}): Promise<CliRun> {
  let stdout = '';
  let stderr = '';
  const code = await runTool(args, {
    stdin: Readable.from([options.input ?? '']),
    stdout: new Writable(),
    interactive: false,
    columns: 120,
    write: (text) => (stdout += text),
    out: (line) => void (stdout += `${line}\n`),
    err: (line) => void (stderr += `${line}\n`),
    style: (_format, text) => text,
  });
  return { code, stdout, stderr };
}

/** `script` of util-linux provides a terminal for a program. */
const scriptProgram = '/usr/bin/script';
export const hasTerminal = process.platform === 'linux' && existsSync(scriptProgram);

export interface TerminalRun {
  /** The text that a user would read: control sequences are removed. */
  readonly screen: () => string;
  /** The text on the screen now: what was written over or erased is gone. */
  readonly visible: () => string;
  type(text: string): void;
  /** Resolves when the screen shows this after what it showed before. */
  shows(text: string | RegExp): Promise<void>;
  readonly done: Promise<number | null>;
}

export function startInTerminal(args: readonly string[]): TerminalRun {
  const quoted = [process.execPath, launcher, ...args].map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
  const child = spawn(scriptProgram, ['-qec', `stty cols 120 rows 40; exec ${quoted}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm' },
  });
  let text = '';
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  // eslint-disable-next-line no-control-regex
  const screen = (): string => text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  return {
    screen,
    visible: () => visibleText(text),
    type: (typed) => child.stdin.write(typed),
    async shows(wanted) {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const fresh = screen().slice(seen);
        const at = typeof wanted === 'string' ? fresh.indexOf(wanted) : fresh.search(wanted);
        if (at >= 0) {
          seen += at + 1;
          return;
        }
        if (Date.now() > deadline) throw new Error(`the screen never showed ${String(wanted)}; it shows:\n${fresh}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    done: new Promise((resolve) => child.on('close', (code) => resolve(code))),
  };
}
