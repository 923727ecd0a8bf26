import type { RecordedEvent } from './event.ts';
import type { Thread } from './thread.ts';

/** Folds one event; `at` is its commit's time. */
export function evolve(thread: Thread, event: RecordedEvent, at: number): Thread {
  throw new Error(`not yet: ${thread.id} ${event.type} ${at}`);
}
