// Gauges of the processor's state, read whenever metrics are read.
import type { Clock, Metrics, Timers } from '@dormouse/ports';
import type { CompletionRunner } from '../thread-processor/completion/completion-runner.ts';

export interface ProcessorState {
  readonly lanes: () => number;
  readonly completions: Pick<CompletionRunner, 'inFlight' | 'waiting' | 'oldestWait'>;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** More are not counted: that many late timers say enough. */
const dueMax = 1_000;

export function observeProcessor(metrics: Metrics, { lanes, completions, timers, clock }: ProcessorState): void {
  metrics.gauge('dormouse_lanes', (report) => report(lanes()));
  metrics.gauge('dormouse_completion_slots', (report) => {
    report(completions.inFlight, 'taken');
    report(completions.waiting, 'waiting');
  });
  metrics.gauge('dormouse_oldest_wait_seconds', (report) => {
    const now = clock.now();
    report(Math.max(0, now - (completions.oldestWait() ?? now)) / 1_000, 'slot');
  });
  metrics.gauge('dormouse_timers_due', async (report) => report((await timers.due(clock.now(), dueMax)).length));
}
