// The machine that was measured: without it a figure says nothing.
import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type as systemName } from 'node:os';
import { join } from 'node:path';
import { percentile } from './statistics.ts';

export interface Machine {
  readonly at: string;
  readonly commit: string;
  readonly node: string;
  readonly system: string;
  readonly cpus: string;
  readonly memoryGib: number;
  /** Runnable processes of the machine when the bench began: above the number of cores the figures are noisy. */
  readonly loadAtStart: number;
  /** Median time of appending 4 KiB and syncing it where the data lies. */
  readonly syncMs: number;
}

const syncs = 60;

export function describeMachine(directory: string): Machine {
  const processors = cpus();
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' });
  return {
    at: new Date().toISOString(),
    commit: git.status === 0 ? git.stdout.trim() : 'unknown',
    node: process.version,
    system: `${systemName()} ${release()}`,
    cpus: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    loadAtStart: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    syncMs: syncTime(join(directory, 'sync-probe')),
  };
}

function syncTime(file: string): number {
  const page = Buffer.alloc(4_096, 1);
  const handle = openSync(file, 'a');
  const times: number[] = [];
  for (let count = 0; count < syncs; count++) {
    const from = performance.now();
    writeSync(handle, page);
    fdatasyncSync(handle);
    times.push(performance.now() - from);
  }
  closeSync(handle);
  rmSync(file);
  return Math.round(percentile(times, 0.5) * 1_000) / 1_000;
}
