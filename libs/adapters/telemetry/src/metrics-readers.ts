// OpenTelemetry's readers of the registry: one for scrapes, and one that pushes.
import type { Logger } from '@dormouse/ports';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  type IMetricReader,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { MetricsOptions, MetricsPush, OtlpProtocol } from './metrics-options.ts';
import type { MetricsRegistry } from './metrics-registry.ts';

export interface MetricsReaders {
  text(): Promise<string>;
  /** Pushes once more. */
  close(): Promise<void>;
}

export async function openReaders(registry: MetricsRegistry, options: MetricsOptions): Promise<MetricsReaders> {
  const scraped = new ScrapeReader(registry);
  const pushed = options.push === null ? [] : [await pushReader(registry, options.push, options.logger)];
  const readers: IMetricReader[] = [scraped, ...pushed];
  const named = detectResources({ detectors: [envDetector] }); // the operator's names win
  const resource = resourceFromAttributes({ ...options.resource }).merge(named);
  const provider = new MeterProvider({ resource, readers });
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  return {
    text: async () => serializer.serialize((await scraped.collect()).resourceMetrics),
    close: () => provider.shutdown(),
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

/** (metrics-export E1) */
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

/** The exporter of this protocol alone is loaded. */
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
