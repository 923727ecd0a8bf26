// The room of spans that wait for their export, and the count of those that were never exported.
//
// OpenTelemetry's batch processor drops spans without a word to the exporter, and counts them only in experimental
// metrics that its Node SDK wires to no registry but its own. So the bound is kept here, with the same number and
// before a span is made: the processor behind it is never full, and a dropped span costs nothing.
//
// Invariants:
//   Q1. At most `max` spans wait; one more is dropped. A span waits from `take` until its batch is given to the
//       exporter.
//   Q2. Each dropped span is counted once: when there is no room for it, or when the export of its batch has failed.
import type { Counter } from '@dormouse/ports';

/** What this needs of OpenTelemetry's exporter. */
export interface BatchExporter {
  export(spans: readonly unknown[], exported: (result: ExportResult) => void): void;
}

/** As OpenTelemetry has it: 0 is a success. */
interface ExportResult {
  readonly code: number;
  readonly error?: Error;
}

export interface SpanQueue {
  /** Whether there is room. The first refusal after a success calls `full`. (Q1) */
  hasRoom(): boolean;
  /** One more span waits. */
  take(): void;
  /** The same exporter, which counts. */
  counting<Exporter extends BatchExporter>(exporter: Exporter): Exporter;
}

const success = 0;
/** OpenTelemetry's default of OTEL_BSP_MAX_QUEUE_SIZE. */
const spansMaxDefault = 2_048;

/** Spans that wait at most, by OTEL_BSP_MAX_QUEUE_SIZE; what is no number above 0 is the default, as in the SDK. */
export function spansMaxOf(text: string | undefined): number {
  const value = Number(text?.trim() || Number.NaN);
  return value > 0 ? value : spansMaxDefault;
}

/** `full` is called with the bound whenever spans begin to be dropped because of it. */
export function createSpanQueue(max: number, dropped: Counter, full: (max: number) => void): SpanQueue {
  let waiting = 0;
  let isFull = false;
  return {
    hasRoom: () => {
      if (waiting < max) {
        isFull = false;
        return true;
      }
      dropped.add(1); // (Q2)
      if (!isFull) full(max);
      isFull = true;
      return false;
    },
    take: () => {
      waiting += 1;
    },
    counting: (exporter) => {
      const send = exporter.export.bind(exporter);
      const counted: BatchExporter['export'] = (spans, exported) => {
        waiting -= spans.length; // (Q1)
        send(spans, (result) => {
          if (result.code !== success) dropped.add(spans.length); // (Q2)
          exported(result);
        });
      };
      return Object.assign(exporter, { export: counted });
    },
  };
}
