// The two ways out of a process: Prometheus text on request, and OTLP that is pushed. Both read the same registry, and
// give the same names to Prometheus: the text by `prometheusName`, what is pushed by the rules of the Collector.
//
// Invariants:
//   E1. A scrape that fails is the caller's failure. A push that fails is OpenTelemetry's to repeat; the failure is
//       logged when it begins. A collector that is away delays the end of the process by `closeMsMax` at most.
//   E2. The exporter of a push is loaded only if something is pushed: it is large.
import type { Logger, Metrics, MetricService } from '@dormouse/ports';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  type IMetricReader,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureProcess } from './metrics-process.ts';
import { createMetricsRegistry, type MetricsRegistry } from './metrics-registry.ts';

export type OtlpProtocol = 'http/protobuf' | 'http/json' | 'grpc';

/** Endpoint, headers and the rest are read by OpenTelemetry from its own variables. */
export interface MetricsPush {
  readonly protocol: OtlpProtocol;
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface MetricsOptions {
  /** Services of this process. */
  readonly services: readonly MetricService[];
  /** Attributes of the process, such as `service.name`; OpenTelemetry's own variables win. */
  readonly resource: Readonly<Record<string, string>>;
  readonly withOldGenAi: boolean;
  /** Null when nothing is pushed. */
  readonly push: MetricsPush | null;
  /** On the disk whose free space is shown. */
  readonly directory: string;
  readonly logger: Logger;
}

export interface OpenMetrics {
  readonly metrics: Metrics;
  /** All metrics as Prometheus text. */
  text(): Promise<string>;
  /** Pushes once more, and stops measuring. */
  close(): Promise<void>;
}

const closeMsMax = 2_000;

/** Media type of `text`. */
export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

export async function openMetrics(options: MetricsOptions): Promise<OpenMetrics> {
  const registry = createMetricsRegistry(options);
  const scraped = new ScrapeReader(registry);
  const pushed = options.push === null ? [] : [await pushReader(registry, options.push, options.logger)];
  const readers: IMetricReader[] = [scraped, ...pushed];
  const named = detectResources({ detectors: [envDetector] }); // the operator's names win
  const resource = resourceFromAttributes({ ...options.resource }).merge(named);
  const provider = new MeterProvider({ resource, readers });
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  const stopMeasuring = measureProcess(registry, options.directory);
  return {
    metrics: registry,
    text: async () => serializer.serialize((await scraped.collect()).resourceMetrics),
    close: async () => {
      stopMeasuring();
      const closed = provider.shutdown().catch((error: unknown) => {
        options.logger.warn('metrics_not_pushed', { reason: String(error) });
      });
      await Promise.race([closed, sleep(closeMsMax, null, { ref: false })]); // (E1)
    },
  };
}

class ScrapeReader extends MetricReader {
  constructor(registry: MetricsRegistry) {
    super({ metricProducers: [registry.producer('prometheus')] });
  }

  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function pushReader(registry: MetricsRegistry, push: MetricsPush, logger: Logger): Promise<IMetricReader> {
  return new PeriodicExportingMetricReader({
    exporter: reporting(await exporterOf(push.protocol), logger),
    exportIntervalMillis: push.everyMs,
    exportTimeoutMillis: Math.min(push.timeoutMs, push.everyMs),
    metricProducers: [registry.producer('opentelemetry')],
  });
}

/** (E1) */
function reporting(exporter: PushMetricExporter, logger: Logger): PushMetricExporter {
  const push = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (metrics, pushed) =>
    push(metrics, (result) => {
      const { error } = result;
      if (error !== undefined && !isFailing) logger.warn('metrics_not_pushed', { reason: error.message });
      isFailing = error !== undefined;
      pushed(result);
    });
  return exporter;
}

/** (E2) */
async function exporterOf(protocol: OtlpProtocol): Promise<PushMetricExporter> {
  switch (protocol) {
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
  }
}
