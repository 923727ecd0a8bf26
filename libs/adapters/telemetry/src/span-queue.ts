// The room of spans that wait for their export, and the count of those that were never exported.
//
// OpenTelemetry's batch processor drops spans without a word to the exporter, and counts them only in experimental
// metrics that its Node SDK wires to no registry but its own. So the bound is kept here, with the same number and
// before the processor: it is never full, and a dropped span of ours is not even made.
//
// Invariants:
//   Q1. At most `max` spans wait, those of other authors in this process among them; one more is dropped. A span waits
//       from its end until its batch is given to the exporter.
//   Q2. Each dropped span is counted once: when there is no room for it, or when the export of its batch has failed.
//   Q3. The long texts of the spans that wait or are on their way have `longCharactersMax` characters at most: with
//       contents a full queue would have hundreds of megabytes. A span for whose texts there is no room goes without.
import type { Counter } from '@dormouse/ports';

/** What this needs of OpenTelemetry's exporter. */
export interface BatchExporter {
  export(spans: readonly EndedSpan[], exported: (result: ExportResult) => void): void;
}

/** What this needs of OpenTelemetry's span processor. */
export interface SpanEnds<Span> {
  onEnd(span: Span): void;
}

interface EndedSpan {
  spanContext(): { readonly traceFlags: number };
  readonly attributes: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

/** As OpenTelemetry has it: 0 is a success. */
interface ExportResult {
  readonly code: number;
  readonly error?: Error;
}

export interface SpanQueue {
  /** Whether there is room; a refusal counts as a dropped span. The first one after a success calls `full`. (Q2) */
  hasRoom(): boolean;
  /** These attributes, without their long texts if there is no room for them. (Q3) */
  fitting<Given extends Attributes>(attributes: Given): Given;
  /** The same exporter, which counts. */
  counting<Exporter extends BatchExporter>(exporter: Exporter): Exporter;
  /** The same processor, which is given a span only when there is room for it. (Q1) */
  bounding<Span extends EndedSpan, Processor extends SpanEnds<Span>>(processor: Processor & SpanEnds<Span>): Processor;
}

const success = 0;
const sampledFlag = 1;
/** Characters from which on a text is long, and of all long texts. */
const longFrom = 1_024;
const longCharactersMax = 4_194_304;
/** OpenTelemetry's default of OTEL_BSP_MAX_QUEUE_SIZE. */
const spansMaxDefault = 2_048;

/** Spans that wait at most, by OTEL_BSP_MAX_QUEUE_SIZE; what is no number above 0 is the default, as in the SDK. */
export const spansMaxOf = (text: string | undefined): number => positiveOf(text) ?? spansMaxDefault;

/** The number above 0 that a variable has, or undefined. */
export function positiveOf(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || Number.NaN);
  return value > 0 ? value : undefined;
}

/** `full` is called with the bound whenever spans begin to be dropped because of it. */
export function createSpanQueue(max: number, dropped: Counter, full: (max: number) => void): SpanQueue {
  let waiting = 0;
  let characters = 0;
  let isFull = false;

  function hasRoom(): boolean {
    if (waiting < max) {
      isFull = false;
      return true;
    }
    dropped.add(1); // (Q2)
    if (!isFull) full(max);
    isFull = true;
    return false;
  }

  return {
    hasRoom,
    fitting: (attributes) => {
      const long = longCharactersIn(attributes);
      if (long === 0 || characters + long <= longCharactersMax) return attributes;
      return Object.fromEntries(
        Object.entries(attributes).filter(([, value]) => lengthOf(value) < longFrom),
      ) as typeof attributes;
    },
    counting: (exporter) => {
      const send = exporter.export.bind(exporter);
      const counted: BatchExporter['export'] = (spans, exported) => {
        waiting -= spans.length; // (Q1)
        const long = spans.reduce((sum, { attributes }) => sum + longCharactersIn(attributes), 0);
        send(spans, (result) => {
          characters -= long; // (Q3)
          if (result.code !== success) dropped.add(spans.length); // (Q2)
          exported(result);
        });
      };
      return Object.assign(exporter, { export: counted });
    },
    bounding: (processor) => {
      const end = processor.onEnd.bind(processor);
      const bounded = (span: Parameters<typeof end>[0]): void => {
        if ((span.spanContext().traceFlags & sampledFlag) === 0 || !hasRoom()) return;
        waiting += 1;
        characters += longCharactersIn(span.attributes);
        end(span);
      };
      return Object.assign(processor, { onEnd: bounded });
    },
  };
}

const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

function longCharactersIn(attributes: Attributes): number {
  let characters = 0;
  for (const name in attributes) {
    const length = lengthOf(attributes[name]);
    if (length >= longFrom) characters += length;
  }
  return characters;
}
