// Backups of a running standalone: one at a time, each a data directory that `npm start -- --data` takes.
//
// Invariants:
//   K1. Everything is of one moment: the state of the example tools is written, and the database pinned, in one tick of
//       the event loop, in which no callback is taken and no call acknowledged. The rest of the copy may take its time.
//   K2. A call that the copy has as sent is in its tools' state, and a result that its tools have delivered is in its
//       log.
//   K3. What the directory holds and no list knows is copied too; a directory or a link in it that is not ours is left
//       out, and that is said.
import type { PinnedDatabase } from '@dormouse/adapter-sqlite';
import type { Logger } from '@dormouse/ports';
import { mkdirSync } from 'node:fs';
import { copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupTarget, flushDirectory, openTarget } from './backup-target.ts';

export interface BackupReport {
  readonly directory: string;
  readonly state: 'copying' | 'done' | 'failed';
  /** Why it failed; null otherwise. */
  readonly reason: string | null;
  /** Milliseconds since the epoch: everything that was acknowledged before is in the copy. */
  readonly beganAt: number;
  readonly endedAt: number | null;
  readonly bytesDone: number;
  readonly bytesTotal: number;
  /** Names of what lies in the data directory and is no file, nor ours. (K3) */
  readonly leftOut: readonly string[];
}

export interface Backups {
  /** Null while another one is written. @throws TargetRefused; Fault UNAVAILABLE; the system's error */
  begin(directory: string): Promise<BackupReport | null>;
  /** The one that is written, or the last one; null for none. */
  latest(): BackupReport | null;
  /** Ends the one that is written, and removes it. */
  close(): Promise<void>;
}

export interface BackupSources {
  readonly dataDir: string;
  readonly pin: () => PinnedDatabase;
  /** Writes the state of the example tools, as of this moment, into an existing directory; null where none run. */
  readonly copyExamples: ((directory: string) => void) | null;
  readonly logger: Logger;
}

export const examplesDirectory = 'example-tools';
const databaseFile = 'dormouse.db';
/** Of the database that is copied itself, and the lock of its process. */
const leftBehind = /^(dormouse\.lock(-journal)?|dormouse\.db(-wal|-shm|-journal)?)$/;
const sharedMemory = /-shm$/;

export function createBackups(sources: BackupSources): Backups {
  let report: BackupReport | null = null;
  let writing: Promise<void> | null = null;
  let isBeginning = false;
  let isClosed = false;

  function change(part: Partial<BackupReport>): void {
    if (report !== null) report = { ...report, ...part };
  }

  async function write(target: BackupTarget, pinned: PinnedDatabase): Promise<void> {
    try {
      await pinned.write(join(target.unfinished, databaseFile), (bytesDone) => {
        if (isClosed) throw new Error('the process stops');
        change({ bytesDone: Math.min(bytesDone, pinned.bytes) });
      });
      change({ leftOut: await copyOthers(sources, target.unfinished) });
      if (isClosed) throw new Error('the process stops');
      await target.finish();
      change({ state: 'done', endedAt: Date.now(), bytesDone: pinned.bytes });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      sources.logger.error('backup_failed', { reason });
      await target.discard();
      change({ state: 'failed', reason, endedAt: Date.now() });
    } finally {
      pinned.release();
      writing = null;
    }
  }

  return {
    begin: async (directory) => {
      if (writing !== null || isBeginning || isClosed) return null;
      isBeginning = true;
      try {
        const target = await openTarget(directory, sources.dataDir);
        const pinned = await atOneMoment(sources, target);
        report = {
          ...{ directory, state: 'copying', reason: null, beganAt: Date.now(), endedAt: null, leftOut: [] },
          ...{ bytesDone: 0, bytesTotal: pinned.bytes },
        };
        writing = write(target, pinned);
        return report;
      } finally {
        isBeginning = false;
      }
    },
    latest: () => report,
    close: async () => {
      isClosed = true;
      await writing;
    },
  };
}

/** (K1) */
async function atOneMoment({ pin, copyExamples }: BackupSources, target: BackupTarget): Promise<PinnedDatabase> {
  try {
    if (copyExamples !== null) {
      const directory = join(target.unfinished, examplesDirectory);
      mkdirSync(directory, { mode: 0o700 });
      copyExamples(directory);
    }
    return pin();
  } catch (error) {
    await target.discard();
    throw error;
  }
}

/** Keys, and whatever else lies there; the names of directories that are left out. (K3) */
async function copyOthers({ dataDir, copyExamples }: BackupSources, to: string): Promise<readonly string[]> {
  const leftOut: string[] = [];
  for (const entry of await readdir(dataDir, { withFileTypes: true })) {
    if (entry.isFile() && !leftBehind.test(entry.name)) await copyDurably(dataDir, to, entry.name);
    if (entry.isFile()) continue;
    if (!entry.isDirectory() || entry.name !== examplesDirectory) leftOut.push(entry.name);
    else if (copyExamples === null) await copyClosedExamples(join(dataDir, entry.name), join(to, entry.name));
  }
  return leftOut;
}

/** No process has them open. */
async function copyClosedExamples(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true }))
    if (entry.isFile() && !sharedMemory.test(entry.name)) await copyDurably(from, to, entry.name);
  await flushDirectory(to);
}

async function copyDurably(from: string, to: string, name: string): Promise<void> {
  const target = join(to, name);
  await copyFile(join(from, name), target); // with its mode
  const handle = await open(target, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
