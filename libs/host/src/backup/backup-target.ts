// The directory that a backup becomes: written beside it under another name, and renamed when everything is on disk.
//
// Invariants:
//   T1. Under its own name it is complete, or it is not there (or still empty, as it was).
//   T2. What a failed or stopped backup wrote is removed; what a killed one wrote has a name that no backup has.
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';

export interface BackupTarget {
  /** Where it is written; exists, and only its owner reads it. */
  readonly unfinished: string;
  /** Gives it its name. @throws the system's error */
  finish(): Promise<void>;
  /** (T2) */
  discard(): Promise<void>;
}

/** Why nothing can be written there, in a sentence. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** @throws TargetRefused; the system's error when nothing can be created. */
export async function openTarget(directory: string, dataDir: string): Promise<BackupTarget> {
  if (!isAbsolute(directory)) throw new TargetRefused(`${directory} is no absolute path.`);
  const path = resolve(directory);
  if (isInside(path, resolve(dataDir)))
    throw new TargetRefused(`${path} is inside the data directory: a backup belongs on another disk.`);
  const parent = dirname(path);
  if (!(await isDirectory(parent))) throw new TargetRefused(`The directory ${parent} is not there.`);
  await refuseContent(path);
  const unfinished = join(parent, `.${basename(path)}.unfinished-${randomBytes(4).toString('hex')}`);
  await mkdir(unfinished, { mode: 0o700 });
  return {
    unfinished,
    finish: async () => {
      await flushDirectory(unfinished);
      await refuseContent(path);
      await rmdir(path).catch(ignoreAbsence);
      await rename(unfinished, path); // (T1)
      await flushDirectory(parent);
    },
    discard: () => rm(unfinished, { recursive: true, force: true }),
  };
}

async function refuseContent(path: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') throw new TargetRefused(`${path} is a file.`);
    throw error;
  });
  if (names.length > 0)
    throw new TargetRefused(`${path} is not empty: a backup is never written over anything. Choose another directory.`);
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    ignoreAbsence(error as NodeJS.ErrnoException);
    return false;
  }
}

function ignoreAbsence(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Windows has no such call, and needs none. */
export async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
