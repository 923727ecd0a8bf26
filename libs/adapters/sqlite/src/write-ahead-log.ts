// The write-ahead log's length, when it is carried over into the database file, and how often either file was synced.
import type { DatabaseSync } from 'node:sqlite';
import type { CounterPen } from './writer-counters.ts';

export interface WriteAheadLog {
  /** A transaction was written and synced. */
  wrote(): void;
  isTooLong(): boolean;
  /** True when there is nothing to carry over. */
  isClean(): boolean;
  /** PASSIVE carries over what it can without waiting for anybody; TRUNCATE waits, and empties the log's file. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void;
}

/** Looking costs a lone commit 15 µs: its length is only needed for a bound. */
const looksAfterWrites = 16;

export function createWriteAheadLog(database: DatabaseSync, framesMax: number, counters: CounterPen): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  let frames = 0;
  let carried = 0;
  let isClean = true;
  let writes = 0;
  learn(noop.get());

  function learn(row: ReturnType<typeof noop.get>): void {
    frames = Math.max(0, Number(row?.['log'] ?? 0));
    carried = Math.max(0, Number(row?.['checkpointed'] ?? 0));
    isClean = carried === frames;
    writes = 0;
    counters.set('walFrames', frames);
  }

  return {
    wrote: () => {
      // A log that had been carried over completely begins again, and its new header is synced too.
      counters.add('syncs', isClean ? 2 : 1);
      isClean = false;
      writes += 1;
      if (writes >= looksAfterWrites) learn(noop.get());
    },
    isTooLong: () => frames - carried >= framesMax,
    isClean: () => isClean,
    checkpoint: (mode) => {
      learn(database.prepare(`PRAGMA wal_checkpoint(${mode})`).get());
      counters.add('checkpoints', 1);
      counters.add('syncs', 2);
    },
  };
}
