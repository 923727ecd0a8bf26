// A lock file: one process works at a time, the others wait, and one that died is replaced.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const waitMs = 250;

/** Works while it holds the lock, and releases it. `waiting` is called once when another process has it. */
export async function underLock<Result>(
  file: string,
  waiting: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let told = false; !take(file); told = true) {
    if (!told) waiting();
    await sleep(waitMs);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isAlive(Number(existsSync(file) ? readFileSync(file, 'utf8') : 0))) rmSync(file, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
