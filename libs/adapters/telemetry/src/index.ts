export {
  metricsMediaType,
  type MetricsOptions,
  type MetricsPush,
  openMetrics,
  type OpenMetrics,
  type OtlpProtocol,
} from './metrics-export.ts';
export * from './open-tracer.ts';
