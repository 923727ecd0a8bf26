// The write-ahead log's length, when it is carried over into the database file, and how often either file was synced.
//
// Invariants:
//   H1. A log of which `framesMax` frames are not carried over is carried over by another thread while the writer goes on. What came meanwhile
//       the writer carries over, so that the log begins again, when it is little (`littleShare`), or no more than a rest (`restShare`) that
//       does not become much less by asking; else the other is asked again.
//   H2. A log of twice that length, carried over or not, the writer finishes itself: also while there is no other thread, or none that
//       keeps up. One that is at it is waited for, `waitMsMax` per transaction: on a disk that stands still, writing is slow, not refused.
//   H3. A checkpoint counts when it has carried something over.
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
  readonly checkpointer: CheckpointRequest;
  /** Its thread has to be started. */
  readonly startCheckpointer: () => void;
  readonly waitMsMax: number;
}

/** Looking costs a lone commit 15 µs, and its length is only needed for a bound. */
const looksAfterOperations = 16;
/** Of the bound: what the writer carries over in passing at most, and without asking whether the other could do it. */
const restShare = 1 / 8;
const littleShare = 1 / 64;

export function createWriteAheadLog(
  database: DatabaseSync,
  counters: CounterPen,
  { framesMax, checkpointer, startCheckpointer, waitMsMax }: WriteAheadLogOptions,
): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  let frames = 0;
  let carried = 0;
  let isClean = true;
  let operationsSince = 0;
  /** What the other thread left the last time, since the writer carried something over itself. */
  let leftBefore = Infinity;
  look();

  function look(): void {
    const row = noop.get();
    frames = Math.max(0, Number(row?.['log'] ?? 0));
    carried = Math.max(0, Number(row?.['checkpointed'] ?? 0));
    isClean = carried === frames;
    operationsSince = 0;
    counters.set('walFrames', frames);
  }

  /** (H3) */
  function counted(): void {
    counters.add('checkpoints', 1);
    counters.add('syncs', 2);
  }

  /** Whether the other thread has carried something over since. */
  function heard(): boolean {
    const answer = checkpointer.take();
    if (answer !== 'carried') return false;
    counted();
    look();
    return true;
  }

  function checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    if (mode === 'TRUNCATE') checkpointer.wait(waitMsMax);
    heard();
    look();
    leftBefore = Infinity;
    if (isClean && mode === 'PASSIVE') return;
    const before = behind();
    const row = database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    if (row?.['busy'] !== 0) return; // somebody else is at it
    look();
    if (behind() < before) counted();
  }

  const behind = (): number => frames - carried;

  /** Whether the writer carries over what the other thread has left. (H1) */
  function isRest(): boolean {
    const left = behind();
    const becomesLess = left < leftBefore / 2;
    leftBefore = left;
    return left <= framesMax * (becomesLess ? littleShare : restShare);
  }

  return {
    wrote: (operations) => {
      // A log that had been carried over completely begins again, and its new header is synced too.
      counters.add('syncs', isClean ? 2 : 1);
      isClean = false;
      operationsSince += operations;
      if (operationsSince >= looksAfterOperations) look();
    },
    tend: () => {
      const wasCarried = heard();
      const isLong = frames >= framesMax * 2;
      if (wasCarried && isRest()) return checkpoint('PASSIVE'); // (H1)
      if (!wasCarried && behind() < framesMax * (isLong ? restShare : 1)) return;
      if (isLong) {
        checkpointer.wait(waitMsMax); // (H2)
        checkpoint('PASSIVE');
      } else if (checkpointer.ask() === 'absent') startCheckpointer();
    },
    isClean: () => isClean,
    checkpoint,
  };
}
