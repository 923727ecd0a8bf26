// Operations that have not left yet, and when they leave.
//
// Invariants:
//   U1. What somebody waits for leaves with the present turn of the event loop.
//   U2. A commit overtakes lazy writes while they are young: it would be longer on its way to the disk with them. Older ones, and
//       those of whom there are many, go with the next commit, behind it, so that they cost no sync of their own while commits
//       flow; but see U5.
//   U3. Lazy writes leave alone when nothing has taken them along for `lazyLeaveMs`.
//   U4. Nothing else is overtaken: whoever asks finds what was written before.
//   U5. When everything that left is answered, and nobody has gone on to write, many lazy writes leave alone: for a sync of their
//       own the next commits need not take them along.
import type { Waiting } from './answer-queue.ts';
import type { WriteOperation } from './write-operation.ts';

/** Commit: a thread waits for it. Prompt: somebody waits for it. Lazy: nobody notices when it is on disk `lazyLeaveMs` later. */
export type Urgency = 'commit' | 'prompt' | 'lazy';

export interface Outbox {
  readonly length: number;
  /** Whether something leaves with the present turn of the event loop. */
  readonly isLeaving: boolean;
  add(urgency: Urgency, operation: WriteOperation, waiting: Waiting): void;
  /** Everything leaves now. */
  leave(): void;
  /** Everything that left is answered. */
  allAnswered(): void;
}

export interface OutboxOptions {
  /** How old the first lazy write must be, or how many there must be, for a commit to take them along. */
  readonly lazyRideMs: number;
  readonly lazyRideCount: number;
  readonly lazyLeaveMs: number;
  /** How many lazy writes leave alone when everything that left is answered. */
  readonly lazyAloneCount: number;
}

interface Lot {
  readonly operations: WriteOperation[];
  readonly waiting: Waiting[];
}

export function createOutbox(
  { lazyRideMs, lazyRideCount, lazyLeaveMs, lazyAloneCount }: OutboxOptions,
  send: (operations: readonly WriteOperation[], waiting: readonly Waiting[]) => void,
): Outbox {
  let leaving: Lot = { operations: [], waiting: [] };
  let lazy: Lot = { operations: [], waiting: [] };
  let lazyTimer: NodeJS.Timeout | null = null;
  let isOld = false;
  let isScheduled = false;

  /** Lazy writes join those who leave. */
  function join(): void {
    if (lazyTimer !== null) clearTimeout(lazyTimer);
    lazyTimer = null;
    isOld = false;
    if (lazy.operations.length === 0) return;
    leaving.operations.push(...lazy.operations);
    leaving.waiting.push(...lazy.waiting);
    lazy = { operations: [], waiting: [] };
  }

  function go(): void {
    isScheduled = false;
    const { operations, waiting } = leaving;
    if (operations.length === 0) return;
    leaving = { operations: [], waiting: [] };
    send(operations, waiting);
  }

  function leave(): void {
    join();
    go();
  }

  function age(): void {
    isOld = true;
    lazyTimer = setTimeout(leave, lazyLeaveMs - lazyRideMs); // (U3)
  }

  function addLazy(operation: WriteOperation, waiting: Waiting): void {
    lazy.operations.push(operation);
    lazy.waiting.push(waiting);
    lazyTimer ??= setTimeout(age, lazyRideMs);
  }

  return {
    get length() {
      return leaving.operations.length + lazy.operations.length;
    },
    get isLeaving() {
      return leaving.operations.length > 0;
    },
    add: (urgency, operation, waiting) => {
      if (urgency === 'lazy') return addLazy(operation, waiting);
      if (urgency === 'prompt') join(); // (U4)
      leaving.operations.push(operation);
      leaving.waiting.push(waiting);
      if (isOld || lazy.operations.length >= lazyRideCount) join(); // (U2)
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(go);
    },
    leave,
    allAnswered: () => {
      if (leaving.operations.length === 0 && lazy.operations.length >= lazyAloneCount) leave(); // (U5)
    },
  };
}
