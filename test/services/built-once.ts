// What takes minutes to build is built once per machine: aside, under a lock, and put in place by one rename.
//
// Invariants:
//   O1. A folder under its final name is whole: whoever dies while building leaves nothing there.
//   O2. Of several processes that want it at once one builds, the others wait; a builder that died is replaced.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const waitMs = 250;

/** The folder of this name, built now if it is not there. */
export async function builtOnce(
  cache: string,
  name: string,
  say: (line: string) => void,
  build: (into: string) => Promise<void>,
): Promise<string> {
  const place = join(cache, name);
  if (existsSync(place)) return place;
  mkdirSync(cache, { recursive: true });
  const lock = `${place}.lock`;
  for (let told = false; !take(lock); told = true) {
    if (!told) say(`${name}: another process is building it; waiting`);
    await sleep(waitMs);
    if (existsSync(place)) return place;
  }
  try {
    if (existsSync(place)) return place;
    const aside = `${place}.building`;
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside);
    await build(aside);
    renameSync(aside, place); // (O1)
    return place;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** (O2) */
function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isAlive(Number(existsSync(lock) ? readFileSync(lock, 'utf8') : 0))) rmSync(lock, { force: true });
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
