// The metrics of one process, as its settings ask for them; none when they are off.
import { openMetrics, type OpenMetrics } from '@dormouse/adapter-telemetry';
import { type Logger, type MetricService, noMetrics } from '@dormouse/ports';
import { type Config, isCluster, metricsPushOf } from '../config.ts';
import { version } from '../version.ts';

export interface ProcessMetrics extends Pick<OpenMetrics, 'metrics' | 'close'> {
  /** All metrics as Prometheus text; null when metrics are off. */
  readonly text: OpenMetrics['text'] | null;
}

const off: ProcessMetrics = { metrics: noMetrics, text: null, close: async () => {} };

/** `name`: of the process, for what is pushed. */
export async function openProcessMetrics(
  config: Config,
  services: readonly MetricService[],
  name: string,
  logger: Logger,
): Promise<ProcessMetrics> {
  if (!config.METRICS) return off;
  return openMetrics({
    services,
    resource: { 'service.name': name, 'service.version': version },
    withOldGenAi: config.METRICS_OLD_GENAI,
    push: metricsPushOf(),
    directory: isCluster(config) ? '.' : config.DATA_DIR,
    logger,
  });
}
