// Which process a recorded number meant: process ids are reused, start times are not.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in words of this system; the same for as long as it lives. */
  readonly startedAt: string;
}

/** Null when no such process runs. */
export function identityOf(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? startOnLinux(pid) : startByPs(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isRunning(one: ProcessIdentity): boolean {
  return identityOf(one.pid)?.startedAt === one.startedAt;
}

/** Signals this process, and never another that has its number now. False when it is gone. */
export function signalTo(one: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(one)) return false;
  try {
    return process.kill(one.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false; // it ended just now
    throw error;
  }
}

/** Ticks since a boot, which has an id of its own. */
function startOnLinux(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, started] = [fields[0], fields[19]];
    if (state === 'Z') return null; // it has ended, and its parent has not read its status
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${started}`;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function startByPs(pid: number): string | null {
  const { status, stdout, error } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
}
