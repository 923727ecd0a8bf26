// Operations that have not been posted to the writer yet, and when they are.
//
// Invariants:
//   Q1. Commits and prompt writes are posted at the end of the present tick of the event loop.
//   Q2. Lazy writes are posted with the next commit or prompt write, or after `lazyMsMax`.
//   Q3. Operations are posted in the order in which they were added.
import type { Waiting } from './answer-queue.ts';
import type { WriteOperation } from './write-operation.ts';

/** Commit: a thread waits for it. Prompt: a request waits for it. Lazy: it may be on disk `lazyMsMax` later. */
export type Urgency = 'commit' | 'prompt' | 'lazy';

export interface WriteQueue {
  readonly length: number;
  add(urgency: Urgency, operation: WriteOperation, waiting: Waiting): void;
  /** Posts everything now. */
  flush(): void;
}

export interface WriteQueueOptions {
  readonly lazyMsMax: number;
}

export function createWriteQueue(
  { lazyMsMax }: WriteQueueOptions,
  post: (operations: readonly WriteOperation[], waiting: readonly Waiting[]) => void,
): WriteQueue {
  let operations: WriteOperation[] = [];
  let waitings: Waiting[] = [];
  let lazyTimer: NodeJS.Timeout | null = null;
  let isScheduled = false;

  function flush(): void {
    if (lazyTimer !== null) clearTimeout(lazyTimer);
    lazyTimer = null;
    isScheduled = false;
    if (operations.length === 0) return;
    const [posted, waiting] = [operations, waitings];
    operations = [];
    waitings = [];
    post(posted, waiting);
  }

  return {
    get length() {
      return operations.length;
    },
    add: (urgency, operation, waiting) => {
      operations.push(operation);
      waitings.push(waiting);
      if (urgency === 'lazy') {
        if (!isScheduled) lazyTimer ??= setTimeout(flush, lazyMsMax); // (Q2)
      } else if (!isScheduled) {
        isScheduled = true;
        queueMicrotask(flush); // (Q1)
      }
    },
    flush,
  };
}
