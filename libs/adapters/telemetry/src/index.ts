export { metricsMediaType, openMetrics, type OpenMetrics } from './metrics-export.ts';
export type { MetricsOptions, MetricsPush, OtlpProtocol } from './metrics-options.ts';
export * from './open-tracer.ts';
