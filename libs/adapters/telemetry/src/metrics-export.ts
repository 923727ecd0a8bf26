// The two ways out of a process: Prometheus text on request, and OTLP that is pushed. Both read the same registry, and
// give the same names to Prometheus: the text by `prometheusName`, what is pushed by the rules of the Collector.
//
// Invariants:
//   E1. A scrape that fails is the caller's failure. A push that fails is OpenTelemetry's to repeat; the failure is
//       logged when it begins. A collector that is away delays the end of the process by `closeMsMax` at most.
//   E2. OpenTelemetry is loaded by the first scrape, or at once if something is pushed: it is large, and a start must
//       not wait for it.
import type { Metrics } from '@dormouse/ports';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MetricsOptions } from './metrics-options.ts';
import { measureProcess } from './metrics-process.ts';
import type { MetricsReaders } from './metrics-readers.ts';
import { createMetricsRegistry } from './metrics-registry.ts';

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
  let readers: Promise<MetricsReaders> | null = null;
  const opened = (): Promise<MetricsReaders> =>
    (readers ??= import('./metrics-readers.ts').then(({ openReaders }) => openReaders(registry, options))); // (E2)
  if (options.push !== null) await opened();
  const stopMeasuring = measureProcess(registry, options.directory);
  return {
    metrics: registry,
    text: async () => (await opened()).text(),
    close: async () => {
      stopMeasuring();
      const closed = readers
        ?.then((open) => open.close())
        .catch((error: unknown) => {
          options.logger.warn('metrics_not_pushed', { reason: String(error) });
        });
      await Promise.race([closed, sleep(closeMsMax, null, { ref: false })]); // (E1)
    },
  };
}
