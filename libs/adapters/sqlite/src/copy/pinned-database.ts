// Copies a database while its process goes on writing. The copy is of one moment: that of `pinDatabase`.
//
// Invariants:
//   B1. A read transaction begins with the pin and lasts until the copy is written: it holds what was committed before
//       the pin and nothing of later, and no write makes the copy begin again. Meanwhile the write-ahead log grows.
//   B2. When `write` resolves, the file is whole, on disk, and every page of it was checked. The check has a thread of
//       its own; the event loop goes on.
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { corrupt, faultOf } from '../file/fault-of.ts';
import { failureOf } from '../file/sqlite-failure.ts';
import { startWorker } from '../file/workers.ts';
import type { CopyVerdict } from './copy-worker.ts';

export interface PinnedDatabase {
  /** Size of the copy. */
  readonly bytes: number;
  /** @throws Fault UNAVAILABLE, DATABASE_CORRUPT. Called once. */
  write(file: string, progress: (bytesDone: number) => void): Promise<void>;
  /** Ends the transaction; called after `write`, or instead of it. */
  release(): void;
}

const pagesPerStep = 1_024;

/** @throws Fault UNAVAILABLE, DATABASE_CORRUPT. */
export function pinDatabase(file: string): PinnedDatabase {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    database.exec('BEGIN');
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get(); // (B1) a transaction reads nothing before its first read
    const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
    const pages = Number(database.prepare('PRAGMA page_count').get()?.['page_count']);
    return {
      bytes: pages * pageBytes,
      write: async (target, progress) => {
        const stepped = ({
          totalPages,
          remainingPages,
        }: {
          readonly totalPages: number;
          readonly remainingPages: number;
        }) => progress((totalPages - remainingPages) * pageBytes);
        await backup(database, target, { rate: pagesPerStep, progress: stepped }).catch((error: unknown) => {
          throw faultOf(failureOf(error));
        });
        await checked(target);
        await flushed(target);
      },
      release: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw faultOf(failureOf(error));
  }
}

/** (B2) */
async function checked(file: string): Promise<void> {
  const thread = startWorker('copy', { file });
  const [{ problem }] = (await once(thread, 'message')) as [CopyVerdict];
  if (problem !== null) throw corrupt(`Its copy is not in order (${problem})`);
}

async function flushed(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
