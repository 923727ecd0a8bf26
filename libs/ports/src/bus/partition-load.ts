// What a process has in hand of the buses, for its operators.
import type { WorkTopics } from './work-bus.ts';

/** How much of one partition of a topic this process has in hand, for its operators. */
export interface PartitionLoad {
  readonly topic: 'inputs' | keyof WorkTopics;
  readonly partition: number;
  /** Published and not finished, as far as it is known. */
  readonly lag: number;
  /** Delivered and not released. */
  readonly inFlight: number;
  /** Age of the oldest of them, in milliseconds; 0 for none. */
  readonly oldestMs: number;
}
