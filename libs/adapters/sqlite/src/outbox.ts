// Operations that have not left yet, and when they leave.
//
// Invariants:
//   U1. What somebody waits for leaves with the present turn of the event loop; what nobody waits for, when `lazyMax` of it
//       wait or `lazyFlushMs` after the first.
//   U2. A commit takes nothing along that nobody waits for, and overtakes it; everything else keeps the order it came in.
import type { Waiting } from './answer-queue.ts';
import type { WriteOperation } from './write-operation.ts';

/**
 * Commit: an append, which a thread waits for. Prompt: somebody waits, and wants to find what was written before.
 * Lazy: nobody waits.
 */
export type Urgency = 'commit' | 'prompt' | 'lazy';

export interface Outbox {
  readonly length: number;
  add(urgency: Urgency, operation: WriteOperation, waiting: Waiting): void;
  /** Everything leaves now. */
  leave(): void;
}

interface OutboxOptions {
  readonly lazyMax: number;
  readonly lazyFlushMs: number;
}

interface Lot {
  readonly operations: WriteOperation[];
  readonly waiting: Waiting[];
}

export function createOutbox(
  { lazyMax, lazyFlushMs }: OutboxOptions,
  send: (operations: readonly WriteOperation[], waiting: readonly Waiting[]) => void,
): Outbox {
  let leaving: Lot = { operations: [], waiting: [] };
  let lazy: Lot = { operations: [], waiting: [] };
  let lazyTimer: NodeJS.Timeout | null = null;
  let going = false;

  /** What nobody waits for joins those who leave. */
  function join(): void {
    if (lazyTimer !== null) clearTimeout(lazyTimer);
    lazyTimer = null;
    if (lazy.operations.length === 0) return;
    leaving.operations.push(...lazy.operations);
    leaving.waiting.push(...lazy.waiting);
    lazy = { operations: [], waiting: [] };
  }

  function go(): void {
    going = false;
    const { operations, waiting } = leaving;
    if (operations.length === 0) return;
    leaving = { operations: [], waiting: [] };
    send(operations, waiting);
  }

  function leave(): void {
    join();
    go();
  }

  function addLazy(operation: WriteOperation, waiting: Waiting): void {
    lazy.operations.push(operation);
    lazy.waiting.push(waiting);
    if (lazy.operations.length >= lazyMax) leave();
    else lazyTimer ??= setTimeout(leave, lazyFlushMs);
  }

  return {
    get length() {
      return leaving.operations.length + lazy.operations.length;
    },
    add: (urgency, operation, waiting) => {
      if (urgency === 'lazy') return addLazy(operation, waiting);
      if (urgency === 'prompt') join(); // (U2)
      leaving.operations.push(operation);
      leaving.waiting.push(waiting);
      if (going) return;
      going = true;
      queueMicrotask(go);
    },
    leave,
  };
}
