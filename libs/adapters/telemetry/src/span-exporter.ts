// The exporter of spans that OpenTelemetry's variables ask for. It reads endpoint, headers and the rest itself.
//
// Invariant:
//   X1. The package of the protocol that is asked for is loaded, and no other.
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';

export type SpanExporter = Pick<OTLPTraceExporter, 'export' | 'shutdown' | 'forceFlush'>;

type Variables = Readonly<Record<string, string | undefined>>;

/** Null where another exporter than OTLP is asked for: then the SDK makes it, and what it drops is not counted. */
export async function openSpanExporter(env: Variables): Promise<SpanExporter | null> {
  const set = (name: string): string | undefined => env[name]?.trim() || undefined;
  if ((set('OTEL_TRACES_EXPORTER') ?? 'otlp') !== 'otlp') return null;
  switch (set('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? set('OTEL_EXPORTER_OTLP_PROTOCOL')) {
    case 'grpc': // (X1)
      return new (await import('@opentelemetry/exporter-trace-otlp-grpc')).OTLPTraceExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter();
    default:
      return new (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter();
  }
}
