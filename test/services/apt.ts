// Debian's package manager: one of ours at a time, and retries while another process has its lock. On a fresh machine
// several servers are prepared at once, and the second `apt-get` would fail where the first has the lock.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { underLock } from './file-lock.ts';
import { runCommand } from './run-command.ts';

interface AptOptions {
  readonly withinMs: number;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const lockFile = join(tmpdir(), 'dormouse-apt.lock');
const patienceMs = 180_000;
const againMs = 1_000;
const isLocked = /could not get lock|unable to (?:lock|acquire)/i;

/** @throws Error with the end of its output when it fails; also where other processes keep the lock for minutes. */
export function apt(args: readonly string[], options: AptOptions): Promise<string> {
  const environment = { DEBIAN_FRONTEND: 'noninteractive', ...options.environment };
  return underLock(
    lockFile,
    () => {},
    async () => {
      for (const until = performance.now() + patienceMs; ;) {
        try {
          return await runCommand('apt-get', args, { ...options, environment });
        } catch (error) {
          if (!isLocked.test(String(error)) || performance.now() > until) throw error;
          await sleep(againMs);
        }
      }
    },
  );
}

/** Installs packages of Debian where this is Debian and we are root. */
export async function aptInstall(packages: readonly string[]): Promise<void> {
  await apt(['update'], { withinMs: 300_000 });
  await apt(['install', '-y', '--no-install-recommends', ...packages], { withinMs: 600_000 });
}
