// The data directory: created if missing, checked, and locked by one process.
//
// Invariants:
//   D1. The lock is an exclusive transaction on `dormouse.lock`, a second and empty SQLite file: the operating system
//       releases it when the process dies, in whatever way.
//   D2. Nothing else in the directory is opened before the lock is held.
import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '@dormouse/ports';
import { failureOf, troubleOf } from './sqlite-failure.ts';

export interface DataDirectory {
  readonly path: string;
  readonly databaseFile: string;
  /** Releases the lock for the next process. */
  release(): void;
}

export async function holdDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory);
  await makeDirectory(path).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  await access(path, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  const lock = takeLock(path);
  return { path, databaseFile: join(path, 'dormouse.db'), release: () => lock.close() };
}

/** Node's own recursive mkdir never returns where a directory exists in which nothing can be created, such as /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = systemCode(error);
    const parent = dirname(path);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || parent === path || (await exists(parent))) throw error;
    await makeDirectory(parent);
    await mkdir(path, { mode: 0o700 });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const systemCode = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);

function takeLock(path: string): DatabaseSync {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(join(path, 'dormouse.lock'), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (troubleOf(failureOf(error)) === 'busy') throw inUse(path);
    throw unwritable(path, error);
  }
}

const inUse = (path: string): Fault =>
  new Fault(
    'DATA_DIR_IN_USE',
    `Another Dormouse process uses the data directory ${path}. Stop it first, or give this one a directory of its own (--data DIR).`,
  );

const unwritable = (path: string, cause: unknown): Fault =>
  new Fault(
    'DATA_DIR_UNWRITABLE',
    `The data directory ${path} cannot be written (${failureOf(cause).message}). Fix its permissions, or choose another one (--data DIR).`,
    { cause },
  );
