// The write-ahead log's length, when it is carried over into the database file, and how often either file was synced.
import type { DatabaseSync } from 'node:sqlite';
import type { CounterPen } from './writer-counters.ts';

export interface WriteAheadLog {
  /** A transaction of so many operations was written and synced. */
  wrote(operations: number): void;
  isTooLong(): boolean;
  /** True when there is nothing to carry over. */
  isClean(): boolean;
  /** PASSIVE carries over what it can without waiting for anybody; TRUNCATE waits, and empties the log's file. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void;
}

/** Looking costs a lone commit 15 µs, and its length is only needed for a bound. */
const looksAfterOperations = 16;

export function createWriteAheadLog(database: DatabaseSync, framesMax: number, counters: CounterPen): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  let frames = 0;
  let carried = 0;
  let isClean = true;
  let operationsSince = 0;
  learn(noop.get());

  function learn(row: ReturnType<typeof noop.get>): void {
    frames = Math.max(0, Number(row?.['log'] ?? 0));
    carried = Math.max(0, Number(row?.['checkpointed'] ?? 0));
    isClean = carried === frames;
    operationsSince = 0;
    counters.set('walFrames', frames);
  }

  return {
    wrote: (operations) => {
      // A log that had been carried over completely begins again, and its new header is synced too.
      counters.add('syncs', isClean ? 2 : 1);
      isClean = false;
      operationsSince += operations;
      if (operationsSince >= looksAfterOperations) learn(noop.get());
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
