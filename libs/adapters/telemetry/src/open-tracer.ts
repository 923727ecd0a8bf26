// Spans over OTLP, by OpenTelemetry's Node SDK: exporter, protocol, sampler, batching and limits are those of its
// standard variables (OTEL_EXPORTER_OTLP_*, OTEL_TRACES_*, OTEL_BSP_*, OTEL_SPAN_*). Port: ports/world/tracer.ts.
//
// Invariants:
//   O1. Off without an endpoint, with OTEL_TRACES_EXPORTER=none or OTEL_SDK_DISABLED=true: then nothing of the SDK is
//       loaded.
//   O2. A span has the ids that the runtime gave it: the SDK asks for them while it starts the span. Spans of others in
//       this process, of the example tools above all, have random ids.
//   O3. Of the machine only `service.*`, `telemetry.sdk.*` and OTEL_RESOURCE_ATTRIBUTES are sent.
//   O4. A collector that is away, slow or failing costs one warning a minute, and spans, which are counted. What
//       OpenTelemetry says of itself goes to our log alone, whatever OTEL_LOG_LEVEL asks for.
import {
  type Logger,
  type Metrics,
  noTracer,
  type Span,
  type SpanAttributes,
  type SpanContext,
  type Tracer,
} from '@dormouse/ports';
import type {
  Attributes,
  Context,
  Span as StartedSpan,
  SpanContext as OtelContext,
  SpanOptions,
  TimeInput,
} from '@opentelemetry/api';
import { randomBytes } from 'node:crypto';
import { rareWarnings } from './rare-warnings.ts';
import { openSpanExporter } from './span-exporter.ts';
import { createSpanQueue, positiveOf, spansMaxOf } from './span-queue.ts';

export interface OpenTracer extends Tracer {
  /** Sends what is waiting, for a few seconds at most. */
  close(): Promise<void>;
}

export interface TracerOptions {
  /** `dormouse-<name>`; OTEL_SERVICE_NAME wins. */
  readonly service: string;
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

type SpanIds = Pick<SpanContext, 'traceId' | 'spanId'>;

const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

const closeMsMax = 5_000;
const scope = 'dormouse';

/** (O1) */
export function isTracingOn(env: TracerOptions['env']): boolean {
  const hasEndpoint = isSet(env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) || isSet(env['OTEL_EXPORTER_OTLP_ENDPOINT']);
  const isDisabled = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
  return hasEndpoint && !isDisabled && env['OTEL_TRACES_EXPORTER']?.trim() !== 'none';
}

const isSet = (value: string | undefined): boolean => value !== undefined && value.trim() !== '';

export async function openTracer(options: TracerOptions): Promise<OpenTracer> {
  if (!isTracingOn(options.env)) return { ...noTracer, close: () => Promise.resolve() };
  const api = await import('@opentelemetry/api');
  const warnings = rareWarnings(options.logger, () => performance.now());
  const listen = (): unknown =>
    api.diag.setLogger(warnings, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
  listen(); // (O4)
  const [{ NodeSDK }, { BatchSpanProcessor }, resources, exporter] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    openSpanExporter(options.env),
  ]);
  const queue = createSpanQueue(
    spansMaxOf(options.env['OTEL_BSP_MAX_QUEUE_SIZE']),
    options.metrics.counter('dormouse_spans_dropped_total'),
    (max) => warnings.warn(`spans are dropped: ${max} wait for the collector`),
  );
  const processors =
    exporter === null
      ? {}
      : {
          spanProcessors: [
            queue.bounding(new BatchSpanProcessor({ exporter: queue.counting(exporter), ...batchesOf(options.env) })),
          ],
        };
  let given: SpanIds | null = null;
  api.diag.disable(); // (O4) with OTEL_LOG_LEVEL the SDK registers a logger that writes to the console
  const sdk = new NodeSDK({
    idGenerator: {
      generateTraceId: () => given?.traceId ?? randomHex(16),
      generateSpanId: () => given?.spanId ?? randomHex(8),
    }, // (O2)
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': options.env['OTEL_SERVICE_NAME'] ?? `dormouse-${options.service}`,
        'service.version': options.version,
      }),
    ),
    resourceDetectors: [resources.serviceInstanceIdDetector, resources.envDetector], // (O3)
    ...processors,
    metricReaders: [],
    logRecordProcessors: [],
    textMapPropagator: null,
  });
  listen();
  sdk.start();
  const tracer = api.trace.getTracer(scope, options.version);
  const { INTERNAL: internal, SERVER: server, CLIENT: client, PRODUCER: producer, CONSUMER: consumer } = api.SpanKind;
  const kinds = { internal, server, client, producer, consumer };
  const root = api.ROOT_CONTEXT;
  const below = ({ context, parentId }: Span): Context =>
    parentId === null ? root : api.trace.setSpanContext(root, remote({ ...context, spanId: parentId }));

  /** (O2) */
  function start(ids: SpanIds, name: string, spanOptions: SpanOptions, context: Context): StartedSpan {
    given = ids;
    try {
      return tracer.startSpan(name, spanOptions, context);
    } finally {
      given = null;
    }
  }

  return {
    isOn: true,
    isSampled: (traceId) =>
      start({ traceId, spanId: '00000000000000f1' }, 'sampled', { root: true }, root).isRecording(), // never ended, so never sent
    record: (span) => {
      if (!span.context.sampled || !queue.hasRoom()) return; // what finds no room is not made
      const started = start(
        span.context,
        span.name,
        {
          kind: kinds[span.kind],
          startTime: timeOf(span.startedAt),
          links: span.links.map((context) => ({ context: remote(context) })),
          root: span.parentId === null,
        },
        below(span),
      );
      // Given at the start, the SDK checks each twice.
      started.setAttributes(attributesOf(queue.fitting(span.attributes), span.error));
      if (span.error !== null) started.setStatus({ code: api.SpanStatusCode.ERROR, message: span.error });
      started.end(timeOf(Math.max(span.startedAt, span.endedAt)));
    },
    close: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, closeMsMax).unref());
      await Promise.race([sdk.shutdown().catch(() => {}), late]);
    },
  };
}

/** As the SDK reads them for a processor that it makes itself. */
const batchesOf = (env: TracerOptions['env']) => ({
  maxQueueSize: positiveOf(env['OTEL_BSP_MAX_QUEUE_SIZE']),
  scheduledDelayMillis: positiveOf(env['OTEL_BSP_SCHEDULE_DELAY']),
  exportTimeoutMillis: positiveOf(env['OTEL_BSP_EXPORT_TIMEOUT']),
  maxExportBatchSize: positiveOf(env['OTEL_BSP_MAX_EXPORT_BATCH_SIZE']),
});

/** Seconds and nanoseconds: as a plain number the SDK takes a small value for one of `performance.now()`. */
const timeOf = (ms: number): TimeInput => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];

const remote = ({ traceId, spanId, sampled }: SpanContext): OtelContext => ({
  traceId,
  spanId,
  traceFlags: sampled ? 1 : 0,
  isRemote: true,
});

const attributesOf = (attributes: SpanAttributes, error: string | null): Attributes => ({
  ...(attributes as Attributes),
  ...(error === null ? {} : { 'error.type': error }),
});
