// A test server in a container, where an engine runs: `docker compose` with a project of its own for each server.
//
// Invariants:
//   D1. Every project has a unique name; only projects that were begun here are ended, with their volumes.
//   D2. When this process ends, what it began ends too. A process that holds a project for longer records its name.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runCommand } from './run-command.ts';
import { freePorts } from './free-ports.ts';
import type { RunningService, ServiceRecipe, StartOptions } from './service.ts';

const file = join(import.meta.dirname, 'compose.yml');
const engineAnswersWithinMs = 10_000;
/** The first time an image is fetched. */
const startsWithinMs = 900_000;
const restartsWithinMs = 120_000;
const endsWithinMs = 60_000;

const begun = new Set<string>();
process.on('exit', () => {
  for (const project of begun) endProjectNow(project); // (D2)
});

/** An engine answers, and its compose can wait for a server to be healthy. */
export async function hasEngine(): Promise<boolean> {
  try {
    await runCommand('docker', ['info', '--format', '{{.ServerVersion}}'], { withinMs: engineAnswersWithinMs });
    const version = await runCommand('docker', ['compose', 'version', '--short'], { withinMs: engineAnswersWithinMs });
    return canWait(version);
  } catch {
    return false; // not installed, not running, not ours to use: all mean no
  }
}

/** `up --wait` came with 2.1.1. */
export function canWait(version: string): boolean {
  const [, major = 0, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(version.trim()) ?? []).map(Number);
  return major > 2 || (major === 2 && minor >= 2);
}

const urls: Readonly<Record<ServiceRecipe['name'], (port: number) => string>> = {
  kafka: (port) => `127.0.0.1:${port}`,
  mongo: (port) => `mongodb://127.0.0.1:${port}/?directConnection=true`,
  redis: (port) => `redis://127.0.0.1:${port}`,
};

/** @throws when it cannot be fetched, or is not healthy in time; nothing of it is left then. */
export async function startContainer(
  name: ServiceRecipe['name'],
  { advertisedPort }: StartOptions,
): Promise<RunningService> {
  const project = `dormouse-test-${name}-${randomBytes(5).toString('hex')}`; // (D1)
  const [port = 0] = await freePorts(1);
  const environment = {
    DORMOUSE_TEST_PORT: String(port),
    DORMOUSE_TEST_ADVERTISED_PORT: String(advertisedPort ?? port),
  };
  const up = async (withinMs: number): Promise<void> => {
    const args = ['up', '--detach', '--wait', '--no-recreate', name];
    await runCommand('docker', [...composeOf(project), ...args], { withinMs, environment });
  };
  begun.add(project);
  try {
    await up(startsWithinMs);
  } catch (error) {
    endProjectNow(project);
    throw error;
  }
  return {
    url: urls[name](port),
    pids: () => [],
    project,
    stop: async () => {
      await runCommand('docker', [...composeOf(project), ...down], { withinMs: endsWithinMs, environment });
      begun.delete(project);
    },
    restart: () => up(restartsWithinMs),
    kill: (signal) => {
      const args = { SIGKILL: ['kill', '--signal', 'SIGKILL'], SIGSTOP: ['pause'], SIGCONT: ['unpause'] }[signal];
      const ran = spawnSync('docker', [...composeOf(project), ...args, name], {
        env: { ...process.env, ...environment },
      });
      if (ran.status !== 0) throw new Error(`docker compose ${args.join(' ')}: ${String(ran.stderr)}`);
    },
  };
}

const composeOf = (project: string): readonly string[] => ['compose', '--project-name', project, '--file', file];
const down = ['down', '--volumes', '--remove-orphans', '--timeout', '10'];

/** Whether a recorded project has a server that runs. */
export function isProjectRunning(project: string): boolean {
  const { status, stdout } = askNow(project, ['ps', '--status', 'running', '--quiet']);
  return status === 0 && stdout.trim() !== '';
}

/** The last lines that its server has printed. */
export function linesOfProject(project: string, count: number): readonly string[] {
  const { stdout } = askNow(project, ['logs', '--no-color', '--no-log-prefix', '--tail', String(count)]);
  return stdout.trimEnd() === '' ? [] : stdout.trimEnd().split('\n');
}

/** The compose file is read as a whole, so it needs the variables of other commands too. */
const askNow = (project: string, args: readonly string[]) =>
  spawnSync('docker', [...composeOf(project), ...args], {
    encoding: 'utf8',
    timeout: endsWithinMs,
    env: { ...process.env, DORMOUSE_TEST_PORT: '0', DORMOUSE_TEST_ADVERTISED_PORT: '0' },
  });

/** Ends a recorded project, or one that failed to start. */
export function endProjectNow(project: string): void {
  begun.delete(project);
  askNow(project, down);
}
