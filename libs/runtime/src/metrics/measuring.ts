// What a measuring decorator needs: where it counts, and the time by which it measures.
import type { Metrics } from '@dormouse/ports';

export interface Measuring {
  readonly metrics: Metrics;
  /** Milliseconds of a clock that never jumps; its beginning means nothing. */
  readonly now: () => number;
}
