/**
 * Owns: the text form of a span's context. W3C Trace Context; `tracestate` and baggage are neither read nor sent.
 */

/** As OpenTelemetry's API has it. */
export interface SpanContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly traceFlags: number;
}

const wellFormed = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Null for any other text. */
export function parseTraceparent(text: string | null | undefined): SpanContext | null {
  const [, traceId, spanId, flags] = wellFormed.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** Null for a context that names no span, as OpenTelemetry's no-op spans have it. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | null {
  const text = `00-${traceId}-${spanId}-0${traceFlags & 1}`;
  return parseTraceparent(text) === null ? null : text;
}
