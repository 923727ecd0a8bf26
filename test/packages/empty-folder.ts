// An empty folder outside this repository, with npm and the Nodes of this machine: where users of our packages begin.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { patienceMs } from '../patience.ts';

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly printed: () => string;
  /** Resolves to the first match on what it prints. @throws Error when it ends before */
  readonly shows: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly stop: () => Promise<void>;
}

export interface EmptyFolder {
  readonly path: string;
  readonly run: (command: string, args: readonly string[], options?: RunOptions) => Promise<Run>;
  readonly start: (command: string, args: readonly string[], options?: RunOptions) => RunningProgram;
  readonly remove: () => Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Below the folder. */
  readonly cwd?: string;
  /** The Node that the command and its children find first. */
  readonly node?: string;
}

/** Every Node on PATH that is another version, the one of this process first. */
export function nodesOfThisMachine(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.map((folder) => join(folder, 'node')).filter((file) => existsSync(file));
  return [...new Set([process.execPath, ...found].map((file) => realpathSync(file)))];
}

export async function emptyFolder(registry: string): Promise<EmptyFolder> {
  const path = await mkdtemp(join(tmpdir(), 'dormouse-empty-'));
  const running = new Set<ChildProcess>();

  function begin(command: string, args: readonly string[], { env = {}, cwd = '', node }: RunOptions): ChildProcess {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_OPTIONS|NODE_PATH|DORMOUSE_|VITEST)/i.test(name),
    );
    const first = join(node ?? process.execPath, '..');
    const child = spawn(command, args, {
      cwd: join(path, cwd),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...Object.fromEntries(inherited),
        PATH: `${first}${delimiter}${(process.env['PATH'] ?? '')
          .split(delimiter)
          .filter((each) => !each.includes('node_modules'))
          .join(delimiter)}`,
        npm_config_registry: registry,
        npm_config_cache: join(path, '.npm-cache'),
        npm_config_audit: 'false',
        npm_config_fund: 'false',
        npm_config_update_notifier: 'false',
        ...env,
      },
    });
    running.add(child);
    child.once('close', () => running.delete(child));
    return child;
  }

  return {
    path,
    async run(command, args, options = {}) {
      const child = begin(command, args, options);
      const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, stdout: stdout(), stderr: stderr() };
    },
    start(command, args, options = {}) {
      const child = begin(command, args, options);
      const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
      const printed = (): string => stdout() + stderr();
      return {
        printed,
        async shows(pattern) {
          const until = Date.now() + patienceMs;
          for (;;) {
            const match = pattern.exec(printed());
            if (match !== null) return match;
            if (child.exitCode !== null || Date.now() > until)
              throw new Error(`${command} ${args.join(' ')} never printed ${pattern}:\n${printed()}`);
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        },
        stop: () => stop(child),
      };
    },
    async remove() {
      for (const child of running) await stop(child);
      await rm(path, { recursive: true, force: true });
    },
  };
}

function collect(stream: ChildProcess['stdout']): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
