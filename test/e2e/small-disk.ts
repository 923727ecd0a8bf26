// A disk of its own, small enough to be filled: a file system in memory.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallDisk {
  readonly at: string;
  /** Takes all free space. */
  fill(): void;
  makeRoom(): void;
  unmount(): void;
}

/** Null where this machine allows no mounts. `at`: its directory, which is made. */
export function mountDisk(at: string, bytes: number): SmallDisk | null {
  mkdirSync(at, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', at], { stdio: 'pipe' });
  } catch {
    return null;
  }
  const filler = join(at, 'filler');
  return {
    at,
    fill: () => fill(filler),
    makeRoom: () => rmSync(filler, { force: true }),
    unmount: () => void execFileSync('umount', [at], { stdio: 'pipe' }),
  };
}

function fill(file: string): void {
  const open = openSync(file, 'a');
  try {
    for (let bytes = 1024 * 1024; bytes >= 1; bytes = Math.floor(bytes / 2)) {
      const block = Buffer.alloc(bytes, 1);
      for (;;) if (!wasWritten(open, block)) break;
    }
  } finally {
    closeSync(open);
  }
}

function wasWritten(open: number, block: Buffer): boolean {
  try {
    return writeSync(open, block) === block.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
