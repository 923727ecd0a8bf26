// The names that an expression may use: the series of the metric table, what the recording rules make, and `up`.
import { describedMetric, metricNames, prometheusName } from '@dormouse/ports';
import { recordings } from './recordings.ts';

const histogramParts = ['_bucket', '_count', '_sum'] as const;

export function knownMetrics(): ReadonlySet<string> {
  const series = metricNames.flatMap((name) => {
    const plain = prometheusName(name);
    return describedMetric(name).kind === 'histogram' ? histogramParts.map((part) => plain + part) : [plain];
  });
  return new Set([...series, ...recordings.map(({ record }) => record), 'up']);
}
