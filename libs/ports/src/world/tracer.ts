// Spans: what a trace shows of one piece of work. A span is recorded when it has ended; until then it is only a context
// that travels, so no span is open while a thread waits, and a process that dies loses spans and nothing else.
//
// Contract:
//   S1. `record` returns at once, never throws, and never delays or changes what it describes.
//   S2. Whether a trace is sampled is decided once, where it begins, as a function of its id.
import type { LogFields } from './logger.ts';

/** Names a span in its trace. W3C Trace Context, without the vendors' `tracestate`. */
export interface SpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Span {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly context: SpanContext;
  /** In the same trace; null for the first span of a trace. */
  readonly parentId: string | null;
  /** Milliseconds since the epoch by the wall clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly links: readonly SpanContext[];
  /** A code for a span that failed, else null. */
  readonly error: string | null;
}

export interface Tracer {
  /** False: nothing that is recorded is used, and contexts need not be made. */
  readonly isOn: boolean;
  /** (S2) */
  isSampled(traceId: string): boolean;
  /** (S1) */
  record(span: Span): void;
}

export const noTracer: Tracer = { isOn: false, isSampled: () => false, record: () => {} };

const wellFormed = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The context that a `traceparent` names, or null for any other text. */
export function parseTraceparent(text: string | null | undefined): SpanContext | null {
  const [, traceId, spanId, flags] = wellFormed.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Fields of a log line about the work of this context; none without one. */
export function traceFieldsOf(traceparent: string | null): LogFields {
  const context = parseTraceparent(traceparent);
  return context === null ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

export const traceparentOf = ({ traceId, spanId, sampled }: SpanContext): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
