// Operations that have not left yet, and when they leave. (G1 of the group writer)
import type { Waiting } from './answer-queue.ts';
import type { WriteOperation } from './write-operation.ts';

/** Prompt: somebody waits for it. Lazy: it may ride with whatever comes next. */
export type Urgency = 'prompt' | 'lazy';

export interface Outbox {
  readonly length: number;
  add(urgency: Urgency, operation: WriteOperation, waiting: Waiting): void;
  /** Everything leaves now. */
  leave(): void;
}

interface Lot {
  readonly operations: WriteOperation[];
  readonly waiting: Waiting[];
}

export function createOutbox(
  lazyFlushMs: number,
  send: (operations: readonly WriteOperation[], waiting: readonly Waiting[]) => void,
): Outbox {
  const empty = (): Lot => ({ operations: [], waiting: [] });
  let lots = { prompt: empty(), lazy: empty() };
  let lazyTimer: NodeJS.Timeout | null = null;
  let leaving = false;

  function leave(): void {
    leaving = false;
    if (lazyTimer) clearTimeout(lazyTimer);
    lazyTimer = null;
    const { prompt, lazy } = lots;
    lots = { prompt: empty(), lazy: empty() };
    if (prompt.operations.length + lazy.operations.length === 0) return;
    send([...lazy.operations, ...prompt.operations], [...lazy.waiting, ...prompt.waiting]);
  }

  return {
    get length() {
      return lots.prompt.operations.length + lots.lazy.operations.length;
    },
    add: (urgency, operation, waiting) => {
      lots[urgency].operations.push(operation);
      lots[urgency].waiting.push(waiting);
      if (urgency === 'lazy') lazyTimer ??= setTimeout(leave, lazyFlushMs);
      else if (!leaving) {
        leaving = true;
        queueMicrotask(leave);
      }
    },
    leave,
  };
}
