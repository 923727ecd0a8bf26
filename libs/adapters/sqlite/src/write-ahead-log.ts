// The write-ahead log's length, when it is carried over into the database file, and how often either file was synced.
import type { DatabaseSync } from 'node:sqlite';

export interface WriteAheadLog {
  /** After a transaction: true when it wrote and synced something. Looking costs 2 µs. */
  wrote(): boolean;
  isTooLong(): boolean;
  /** True when there is nothing to carry over. */
  isClean(): boolean;
  /** PASSIVE carries over what it can without waiting for anybody; TRUNCATE waits, and empties the log's file. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void;
  counters(): { readonly syncs: number; readonly checkpoints: number; readonly walFrames: number };
}

export function createWriteAheadLog(database: DatabaseSync, framesMax: number): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  const lengths = (row: ReturnType<typeof noop.get>): { frames: number; carried: number } => ({
    frames: Math.max(0, Number(row?.['log'] ?? 0)),
    carried: Math.max(0, Number(row?.['checkpointed'] ?? 0)),
  });
  let { frames, carried } = lengths(noop.get());
  let syncs = 0;
  let checkpoints = 0;

  return {
    wrote: () => {
      const now = lengths(noop.get());
      const nothing = now.frames === frames && now.carried === carried;
      // A log that had been carried over completely begins again, and its new header is synced too.
      if (!nothing) syncs += carried === frames ? 2 : 1;
      ({ frames, carried } = now);
      return !nothing;
    },
    isTooLong: () => frames - carried >= framesMax,
    isClean: () => carried === frames,
    checkpoint: (mode) => {
      ({ frames, carried } = lengths(database.prepare(`PRAGMA wal_checkpoint(${mode})`).get()));
      checkpoints += 1;
      syncs += 2;
    },
    counters: () => ({ syncs, checkpoints, walFrames: frames }),
  };
}
