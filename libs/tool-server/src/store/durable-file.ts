/**
 * Owns: files and directories that are on disk, entry and all, when the call returns.
 * Not here: what is written.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Makes a directory that only its owner reads, and its missing parents. */
export function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const top = dirname(resolve(first));
  for (let made = resolve(path); made !== top; made = dirname(made)) flushDirectory(dirname(made));
}

/** Writes a file that only its owner reads: all of it is there after a power cut, or nothing. */
export function writeDurably(directory: string, name: string, text: string): void {
  const unfinished = join(directory, `${name}.new`);
  rmSync(unfinished, { force: true }); // left by a process that ended during the write
  const file = openSync(unfinished, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, join(directory, name));
  flushDirectory(directory);
}

/** For a file that another program part has written. */
export const flushFile = (path: string): void => flush(path, 'r+');

/** Entries are part of their directory, which is flushed too. Windows has no such call, and needs none. */
export function flushDirectory(path: string): void {
  if (process.platform !== 'win32') flush(path, 'r');
}

function flush(path: string, flags: 'r' | 'r+'): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
