// Gauges of the processor's state, read whenever metrics are read.
import type { Clock, Metrics, Timers } from '@dormouse/ports';

export interface ProcessorState {
  readonly lanes: () => number;
  readonly slots: { readonly taken: number; readonly waiting: number; oldestWait: () => number | null };
  readonly timers: Timers;
  readonly clock: Clock;
}

/** More are not counted: that many late timers say enough. */
const dueMax = 1_000;

export function observeProcessor(metrics: Metrics, { lanes, slots, timers, clock }: ProcessorState): void {
  metrics.gauge('dormouse_lanes', (report) => report(lanes()));
  metrics.gauge('dormouse_completion_slots', (report) => {
    report(slots.taken, 'taken');
    report(slots.waiting, 'waiting');
  });
  metrics.gauge('dormouse_oldest_wait_seconds', (report) => {
    const now = clock.now();
    report(Math.max(0, now - (slots.oldestWait() ?? now)) / 1_000, 'slot');
  });
  metrics.gauge('dormouse_timers_due', async (report) => report((await timers.due(clock.now(), dueMax)).length));
}
