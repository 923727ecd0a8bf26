// What takes minutes to build is built once per machine: aside, under a lock, and put in place by one rename.
//
// Invariants:
//   O1. A folder under its final name is complete: a build that dies leaves nothing there.
//   O2. Of several processes that want it at once one builds, the others wait; a builder that died is replaced.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { underLock } from './file-lock.ts';

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
  const waiting = (): void => say(`${name}: another process is building it; waiting`);
  return underLock(`${place}.lock`, waiting, async () => {
    if (existsSync(place)) return place; // (O2)
    const aside = `${place}.building`;
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside);
    await build(aside);
    renameSync(aside, place); // (O1)
    return place;
  });
}
