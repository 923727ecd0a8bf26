// The write-ahead log's length, when it is checkpointed into the database file, and how often either file was synced.
//
// Invariants:
//   H1. When `framesMax` frames of a log are not checkpointed, another thread checkpoints it while the writer goes on.
//       The writer checkpoints what came meanwhile, so that the log restarts, when it is little (`littleShare`), or no
//       more than a rest (`restShare`) that another request does not make much smaller; otherwise it sends the other
//       thread a new request.
//   H2. A log of twice that length, checkpointed or not, is finished by the writer itself: also while there is no other
//       thread, or none that keeps up. It waits for a running checkpoint, `waitMsMax` per transaction: on a disk that
//       stands still, writing is slow, not refused.
//   H3. A checkpoint counts when it has moved at least one frame.
import type { DatabaseSync } from 'node:sqlite';
import type { CheckpointRequest } from './checkpoint-line.ts';
import type { CounterWriter } from '../writer/writer-counters.ts';

export interface WriteAheadLog {
  /** A transaction of this many operations was written and synced. */
  wrote(operations: number): void;
  /** Between two transactions: checkpoints the log, or requests it, if it is too long. */
  tend(): void;
  /** True when there is nothing to checkpoint. */
  isClean(): boolean;
  /**
   * PASSIVE checkpoints what it can without waiting; TRUNCATE waits, and empties the log's file. False when another
   * connection was in its way.
   */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean;
}

export interface WriteAheadLogOptions {
  readonly framesMax: number;
  readonly checkpointer: CheckpointRequest;
  /** Called when the checkpointing thread has to be started. */
  readonly startCheckpointer: () => void;
  readonly waitMsMax: number;
}

/** Looking costs a lone commit 15 µs, and the length is only needed for a bound. */
const looksAfterOperations = 16;
/** Share of the bound: the most that the writer checkpoints in passing, and without a request to the other thread. */
const restShare = 1 / 8;
const littleShare = 1 / 64;

export function createWriteAheadLog(
  database: DatabaseSync,
  counters: CounterWriter,
  { framesMax, checkpointer, startCheckpointer, waitMsMax }: WriteAheadLogOptions,
): WriteAheadLog {
  const noop = database.prepare('PRAGMA wal_checkpoint(NOOP)');
  let frames = 0;
  let carried = 0;
  let isClean = true;
  let operationsSince = 0;
  /** What the other thread's last checkpoint left, since the writer's own last checkpoint. */
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

  /** True when the other thread has finished a checkpoint since. */
  function heard(): boolean {
    const answer = checkpointer.take();
    if (answer !== 'carried') return false;
    counted();
    look();
    return true;
  }

  function checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    if (mode === 'TRUNCATE') checkpointer.wait(waitMsMax);
    heard();
    look();
    leftBefore = Infinity;
    if (isClean && mode === 'PASSIVE') return true;
    const before = behind();
    const row = database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    if (row?.['busy'] !== 0) return false; // another connection checkpoints
    look();
    if (behind() < before) counted();
    return true;
  }

  const behind = (): number => frames - carried;

  /** Whether the writer checkpoints what the other thread has left. (H1) */
  function isRest(): boolean {
    const left = behind();
    const becomesLess = left < leftBefore / 2;
    leftBefore = left;
    return left <= framesMax * (becomesLess ? littleShare : restShare);
  }

  return {
    wrote: (operations) => {
      // A log that had been checkpointed completely restarts, and its new header is synced too.
      counters.add('syncs', isClean ? 2 : 1);
      isClean = false;
      operationsSince += operations;
      if (operationsSince >= looksAfterOperations) look();
    },
    tend: () => {
      const wasCarried = heard();
      const isLong = frames >= framesMax * 2;
      if (wasCarried && isRest()) return void checkpoint('PASSIVE'); // (H1)
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
