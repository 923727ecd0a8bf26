// Counts the syncs a process asks the kernel for, with strace: a durable write must be seen to sync.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from './child-process.ts';

export interface SyncCount {
  /** fsync, fdatasync and sync_file_range calls. */
  readonly syncs: number;
  readonly writes: number;
}

const attachWithinMs = 5_000;
const syncCalls = ['fsync', 'fdatasync', 'sync_file_range'];
const writeCalls = ['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2'];

export function straceIsThere(): boolean {
  return process.platform === 'linux' && spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;
}

/** Runs `work` while the processes are traced; null when strace cannot attach. Slow: nothing else is measured then. */
export async function countSyncs(
  directory: string,
  pids: readonly number[],
  work: () => Promise<void>,
): Promise<SyncCount | null> {
  const file = join(directory, `strace-${Date.now()}.txt`);
  const calls = [...syncCalls, ...writeCalls].join(',');
  const args = [
    '-f',
    '-c',
    '-U',
    'calls,name',
    '-e',
    `trace=${calls}`,
    '-o',
    file,
    ...pids.flatMap((pid) => ['-p', String(pid)]),
  ];
  const strace = await start({ name: 'strace', command: 'strace', args, directory });
  const attached = await isTraced(pids);
  if (attached) await work();
  await strace.stop();
  return attached && existsSync(file) ? countsIn(readFileSync(file, 'utf8')) : null;
}

async function isTraced(pids: readonly number[]): Promise<boolean> {
  for (const until = Date.now() + attachWithinMs; Date.now() < until; await sleep(50)) {
    const traced = pids.every((pid) => !/^TracerPid:\s+0$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')));
    if (traced) {
      await sleep(300); // the other threads of a process are attached one by one
      return true;
    }
  }
  return false;
}

function countsIn(table: string): SyncCount {
  const calls = new Map<string, number>();
  for (const line of table.split('\n')) {
    const row = /^\s*(\d+)\s+([a-z]\w*)$/.exec(line);
    if (row) calls.set(row[2] ?? '', Number(row[1]));
  }
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + (calls.get(name) ?? 0), 0);
  return { syncs: sum(syncCalls), writes: sum(writeCalls) };
}
