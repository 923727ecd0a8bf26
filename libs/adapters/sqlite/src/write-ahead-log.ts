// The write-ahead log's length, when it is carried over into the database file, and how often either file was synced.
//
// Invariants:
//   H1. A log of `framesMax` frames that are not carried over is carried over by another thread while the writer goes on. What came meanwhile
//       is carried over by the writer when it is little (`restShare`), so that the log begins again; else the other is asked again.
//   H2. Whoever writes faster than the other carries over, or before it has started, waits at twice that length.
import type { DatabaseSync } from 'node:sqlite';
import type { CheckpointRequest } from './checkpoint-line.ts';
import type { CounterPen } from './writer-counters.ts';

export interface WriteAheadLog {
  /** A transaction of so many operations was written and synced. */
  wrote(operations: number): void;
  /** Between two transactions: sees to its length. */
  tend(): void;
  /** True when there is nothing to carry over. */
  isClean(): boolean;
  /** PASSIVE carries over what it can without waiting for anybody; TRUNCATE waits, and empties the log's file. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void;
}

export interface WriteAheadLogOptions {
  readonly framesMax: number;
  readonly other: CheckpointRequest;
  /** The other thread has to be started. */
  readonly startOther: () => void;
  readonly waitMsMax: number;
}

/** Looking costs a lone commit 15 µs, and its length is only needed for a bound. */
const looksAfterOperations = 16;
/** A thousand frames take the writer about 2 ms. */
const restShare = 1 / 8;

export function createWriteAheadLog(
  database: DatabaseSync,
  counters: CounterPen,
  { framesMax, other, startOther, waitMsMax }: WriteAheadLogOptions,
): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  let frames = 0;
  let carried = 0;
  let isClean = true;
  let operationsSince = 0;
  look();

  function look(): void {
    learn(noop.get());
  }

  function learn(row: ReturnType<typeof noop.get>): void {
    frames = Math.max(0, Number(row?.['log'] ?? 0));
    carried = Math.max(0, Number(row?.['checkpointed'] ?? 0));
    isClean = carried === frames;
    operationsSince = 0;
    counters.set('walFrames', frames);
  }

  function counted(): void {
    counters.add('checkpoints', 1);
    counters.add('syncs', 2);
  }

  function checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    if (mode === 'TRUNCATE') other.wait(waitMsMax);
    const row = database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    if (mode === 'PASSIVE' && row?.['busy'] !== 0) return; // the other is at it
    learn(row);
    counted();
  }

  const behind = (): number => frames - carried;

  return {
    wrote: (operations) => {
      // A log that had been carried over completely begins again, and its new header is synced too.
      counters.add('syncs', isClean ? 2 : 1);
      isClean = false;
      operationsSince += operations;
      if (operationsSince >= looksAfterOperations) look();
    },
    tend: () => {
      const answer = other.take();
      if (answer === 'carried') {
        counted();
        look();
        if (behind() <= framesMax * restShare) return checkpoint('PASSIVE'); // (H1)
      }
      if (behind() < framesMax * (answer === 'carried' ? restShare : 1)) return;
      const asked = other.ask();
      if (asked === 'absent') startOther();
      if (behind() < framesMax * 2) return;
      other.wait(waitMsMax); // (H2)
      checkpoint('PASSIVE');
    },
    isClean: () => isClean,
    checkpoint,
  };
}
