// Debian's package manager: one of ours at a time, and retries while another process has its lock. On a fresh machine
// several servers are prepared at once, and the second `apt-get` would fail where the first has the lock.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
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

/**
 * Unpacks packages into a folder, without installing them; with `dependencies` also what they need and this machine
 * does not have.
 */
export async function aptUnpack(
  packages: readonly string[],
  into: string,
  dependencies: 'without dependencies' | 'with dependencies' = 'without dependencies',
): Promise<void> {
  await apt(['update'], { withinMs: 300_000 });
  if (dependencies === 'without dependencies') await apt(['download', ...packages], { withinMs: 300_000, cwd: into });
  else {
    mkdirSync(join(into, 'partial'));
    const toHere = ['--download-only', '-o', `Dir::Cache::archives=${into}`, '-o', 'Debug::NoLocking=true'];
    await apt(['install', '-y', '--no-install-recommends', ...toHere, ...packages], { withinMs: 600_000, cwd: into });
  }
  for (const file of readdirSync(into).filter((name) => name.endsWith('.deb'))) {
    await runCommand('dpkg-deb', ['-x', file, '.'], { withinMs: 60_000, cwd: into });
    rmSync(join(into, file));
  }
}

/** Installs packages of Debian where this is Debian and we are root. */
export async function aptInstall(packages: readonly string[]): Promise<void> {
  await apt(['update'], { withinMs: 300_000 });
  await apt(['install', '-y', '--no-install-recommends', ...packages], { withinMs: 600_000 });
}
