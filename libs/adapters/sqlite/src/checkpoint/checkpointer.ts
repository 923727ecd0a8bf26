// The event loop's end of the checkpointing thread: starts it, and ends it.
//
// Invariants:
//   T1. The thread is optional: when it cannot be started or dies, the line to it is over, a warning is emitted, and
//       the writer checkpoints the log by itself, at twice the length. (write-ahead-log H2)
import type { Worker } from 'node:worker_threads';
import { type CheckpointSetup, createCheckpointLine } from './checkpoint-line.ts';
import { failureOf } from '../file/sqlite-failure.ts';
import { startWorker } from '../file/workers.ts';

export interface Checkpointer {
  start(): void;
  /** Resolves when the thread has ended, at once where there was none. */
  end(): Promise<void>;
}

export function createCheckpointer(setup: CheckpointSetup): Checkpointer {
  const line = createCheckpointLine(setup.line);
  let ended: Promise<void> = Promise.resolve();
  let isEnding = false;

  /** (T1) */
  function lost(error: unknown): void {
    line.end();
    if (isEnding) return;
    process.emitWarning(
      `The thread that carries the database's log over has ended (${failureOf(error).message}). The writer does that from now on, ` +
        'and commits wait for it now and then. Nothing is lost; the next start tries again.',
      { type: 'DormouseWarning' },
    );
  }

  function begin(): void {
    const thread: Worker = startWorker('checkpoint', setup);
    thread.on('error', lost);
    ended = new Promise((resolve) => void thread.on('exit', () => resolve()));
  }

  return {
    start: () => {
      try {
        begin();
      } catch (error) {
        lost(error);
      }
    },
    end: () => {
      isEnding = true;
      line.end();
      return ended;
    },
  };
}
