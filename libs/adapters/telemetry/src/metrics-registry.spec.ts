import {
  describedMetric,
  labelValuesMax,
  type Logger,
  metricNames,
  metricServices,
  prometheusName,
} from '@dormouse/ports';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMetricsRegistry, type MetricsRegistry, type Naming } from './metrics-registry.ts';

const warnings: string[] = [];
const logger: Logger = { info: () => {}, warn: (event) => void warnings.push(event), error: () => {} };
let registry: MetricsRegistry;
beforeEach(() => {
  warnings.length = 0;
  registry = createMetricsRegistry({ services: metricServices, withOldGenAi: true, logger });
});
afterEach(() => void vi.useRealTimers());

async function collected(naming: Naming = 'prometheus'): Promise<ReadonlyMap<string, MetricData>> {
  const { resourceMetrics } = await registry.producer(naming).collect();
  return new Map(resourceMetrics.scopeMetrics[0]?.metrics.map((data) => [data.descriptor.name, data]));
}

async function seriesOf(name: string): Promise<readonly (readonly [object, unknown])[]> {
  const points = (await collected()).get(name)?.dataPoints ?? [];
  return points.map(({ attributes, value }) => [attributes, value] as const);
}

/** As the Collector names a metric for Prometheus: the unit unless the name has it, `total` last. */
function collectorName(name: string, unit: string, isCounter: boolean): string {
  const words = name.split(/[^a-zA-Z0-9]+/);
  const unitWord = unit === 's' ? 'seconds' : '';
  if (unitWord !== '' && !words.includes(unitWord)) words.push(unitWord);
  return [...words.filter((word) => !isCounter || word !== 'total'), ...(isCounter ? ['total'] : [])].join('_');
}

describe('the registry', () => {
  it('R1 has every metric from the start, a histogram with no value too', async () => {
    const all = await collected();
    expect([...all.keys()].toSorted()).toEqual(metricNames.map(prometheusName).toSorted());
    expect(await seriesOf('dormouse_turns_total')).toContainEqual([{ outcome: 'failed' }, 0]);
    expect(await seriesOf('dormouse_tool_wait_seconds')).toMatchObject([[{ tool_server: 'other' }, { count: 0 }]]);
  });

  it('gives both ways out the same names', async () => {
    for (const name of metricNames) {
      const { kind, unit = '' } = describedMetric(name);
      expect(collectorName(name, unit, kind === 'counter')).toBe(prometheusName(name));
    }
    const pushed = await collected('opentelemetry');
    expect(pushed.get('gen_ai.client.operation.duration')?.descriptor.unit).toBe('s');
    expect(pushed.get('dormouse_turn_duration_seconds')?.descriptor.unit).toBe('');
  });

  it('exports what its services have, and takes the rest', async () => {
    registry = createMetricsRegistry({ services: ['notifier'], withOldGenAi: true, logger });
    registry.counter('dormouse_turns_total', 'failed').add(1);
    expect([...(await collected()).keys()]).toContain('dormouse_tool_attempts_total');
    expect([...(await collected()).keys()]).not.toContain('dormouse_turns_total');
  });

  it('R2 counts a further value of a label as `other`', async () => {
    for (let code = 0; code < 2 * labelValuesMax; code++)
      registry.counter('dormouse_refusals_total', `CODE_${code}`).add(1);
    const series = await seriesOf('dormouse_refusals_total');
    expect(series).toHaveLength(labelValuesMax + 1);
    expect(series).toContainEqual([{ code: 'other' }, labelValuesMax]);
  });

  it('R2 returns one instrument for one set of values', () => {
    const bound = registry.counter('dormouse_completions_total', 'demo', 'demo', 'recorded');
    expect(registry.counter('dormouse_completions_total', 'demo', 'demo', 'recorded')).toBe(bound);
    expect(registry.counter('dormouse_completions_total', 'demo', 'demo', 'failed')).not.toBe(bound);
  });

  it('R5 shows the largest of what a gauge counts as `other`', async () => {
    registry.gauge('dormouse_tool_oldest_call_seconds', (report) => {
      for (let server = 0; server < labelValuesMax; server++) report(1, `server-${server}`);
      for (const age of [0, 900, 3]) report(age, `late-${age}`);
    });
    const series = await seriesOf('dormouse_tool_oldest_call_seconds');
    expect(series).toHaveLength(labelValuesMax + 1);
    expect(series).toContainEqual([{ tool_server: 'other' }, 900]);
  });

  it('R3 leaves out an empty label, and sets the constant ones', async () => {
    registry.histogram('gen_ai.client.operation.duration', 'demo', 'words', '').record(0.3);
    expect(await seriesOf('gen_ai_client_operation_duration_seconds')).toContainEqual([
      { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'demo', 'gen_ai.request.model': 'words' },
      expect.objectContaining({ count: 1, sum: 0.3 }),
    ]);
  });

  it('puts a value into the bucket whose bound it does not exceed', async () => {
    const wait = registry.histogram('dormouse_tool_wait_seconds', 'mail');
    for (const seconds of [0.1, 0.2, 700_000, -5]) wait.record(seconds);
    const [, value] = (await seriesOf('dormouse_tool_wait_seconds')).find(
      ([labels]) => (labels as { readonly tool_server: string }).tool_server === 'mail',
    ) ?? [null, null];
    const { buckets, sum } = value as { readonly buckets: { readonly counts: number[] }; readonly sum: number };
    expect([buckets.counts.at(0), buckets.counts.at(1), buckets.counts.at(-1)]).toEqual([2, 1, 1]);
    expect(sum).toBeCloseTo(700_000.3);
  });

  it('R4 a gauge that cannot be read has no series, and is reported once', async () => {
    registry.gauge('dormouse_lanes', (report) => report(3));
    registry.gauge('dormouse_parked_threads', () => Promise.reject(new Error('the store is away')));
    expect([await seriesOf('dormouse_lanes'), await seriesOf('dormouse_parked_threads')]).toEqual([[[{}, 3]], []]);
    expect(warnings).toEqual(['metric_not_observed']);
  });

  it('R4 gauges that are not read in time delay a collection once, and take no series from the others', async () => {
    registry.gauge('dormouse_lanes', (report) => report(3));
    registry.gauge('dormouse_subscriptions', () => new Promise(() => {}));
    registry.gauge('dormouse_parked_threads', () => new Promise(() => {}));
    vi.useFakeTimers();
    const [lanes, parked] = [seriesOf('dormouse_lanes'), seriesOf('dormouse_parked_threads')];
    await vi.advanceTimersByTimeAsync(1_000);
    expect([await lanes, await parked]).toEqual([[[{}, 3]], []]);
    expect(warnings).toEqual(['metric_not_observed', 'metric_not_observed']);
  });
});
