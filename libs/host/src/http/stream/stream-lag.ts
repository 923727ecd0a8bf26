// How far event streams are behind their threads.
//
// Invariants:
//   L1. Only an event that was committed while its stream was open has a lag: what a stream begins with is as old as
//       its thread.
import type { Clock, Metrics } from '@dormouse/ports';
import type { Frame } from '@dormouse/runtime';

/** Of one stream. */
export interface StreamLag {
  /** The frame was written to the socket. */
  written(frame: Frame): void;
  /** The stream ends because its reader is too slow. */
  lagged(): void;
}

/** For each stream, when it is opened. */
export type MeasureLag = () => StreamLag;

export function createMeasureLag(metrics: Metrics, { now }: Pick<Clock, 'now'>): MeasureLag {
  const lag = metrics.histogram('dormouse_event_stream_lag_seconds');
  const lagged = metrics.counter('dormouse_event_streams_lagged_total');
  return () => {
    const openedAt = now();
    return {
      written: (frame) => {
        if (frame.frame !== 'event') return;
        const committedAt = Date.parse(frame.event.at);
        if (committedAt > openedAt) lag.record(Math.max(0, now() - committedAt) / 1_000); // (L1)
      },
      lagged: () => lagged.add(1),
    };
  };
}
