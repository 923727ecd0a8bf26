// The values of all metrics of a process. Implements the port `Metrics`, and is a metric producer of OpenTelemetry for
// the readers that export them (metrics-export.ts).
//
// Values are kept here and not in instruments of the SDK: those show a histogram only after its first value, and look
// up their labels by a JSON text each time. A producer is OpenTelemetry's way to add metrics that are kept elsewhere.
//
// Invariants:
//   R1. Every metric of the process's services is exported from the start. (metric-table W4)
//   R2. A known set of label values is found without an allocation; a value beyond the limit is not remembered.
//       (metrics Q2, Q3)
//   R3. A label whose value is empty is left out of its series.
//   R4. An observer that fails leaves out its series, and harms no other; the failure is logged when it begins. So does
//       one that has no answer within `observeMsMax`: what is known is exported also while a store hangs.
//   R5. Of a gauge, `other` is the largest of what is counted as it: an age or a state of alarm is not hidden by what
//       is reported after it.
import {
  type Counter,
  type CounterName,
  type GaugeName,
  type Histogram,
  type HistogramName,
  type Logger,
  labelValuesMax,
  describedMetric,
  type MetricDescription,
  type MetricName,
  type Metrics,
  metricsOf,
  type MetricService,
  otherValue,
  prometheusName,
  type Report,
} from '@dormouse/ports';
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { CollectionResult, DataPoint, MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';

/** Names as OpenTelemetry has them, with their units beside them, or as Prometheus text has them. */
export type Naming = 'opentelemetry' | 'prometheus';

export interface MetricsRegistry extends Metrics {
  /** A producer for readers that want these names. */
  producer(naming: Naming): MetricProducer;
}

export interface RegistryOptions {
  readonly services: readonly MetricService[];
  readonly withOldGenAi: boolean;
  readonly logger: Logger;
}

const scope = { name: 'dormouse' };
/** Well within the time that a scraper waits. */
const observeMsMax = 1_000;

type OpenTelemetry = Awaited<ReturnType<typeof openTelemetry>>;

/** Loaded by the first collection: a start that is scraped later does not wait for it. */
async function openTelemetry() {
  const [{ ValueType }, { emptyResource }, { AggregationTemporality, DataPointType }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-metrics'),
  ]);
  return { ValueType, emptyResource, AggregationTemporality, DataPointType };
}

export function createMetricsRegistry({ services, withOldGenAi, logger }: RegistryOptions): MetricsRegistry {
  const startTime = hrTimeOf(Date.now());
  const families = new Map<MetricName, Family>();
  for (const name of metricsOf(services, withOldGenAi)) families.set(name, familyOf(name)); // (R1)
  /** Of services that this process does not have. */
  const unexported = new Map<MetricName, Family>();
  const failing = new Set<MetricName>();

  function family(name: MetricName): Family {
    const known = families.get(name) ?? unexported.get(name);
    if (known !== undefined) return known;
    const made = familyOf(name);
    unexported.set(name, made);
    return made;
  }

  async function observed(each: Family): Promise<readonly DataPoint<number>[]> {
    const endTime = hrTimeOf(Date.now());
    const points = new Map<string, DataPoint<number>>();
    const report: Report = (value, ...values) => {
      const attributes = each.attributesOf(values);
      const series = JSON.stringify(attributes);
      const largest = Math.max(value, points.get(series)?.value ?? value); // (R5)
      points.set(series, { attributes, value: largest, startTime, endTime });
    };
    try {
      await inTime(Promise.all(each.observers.map(async (observe) => observe(report)))); // (R4)
      failing.delete(each.name);
    } catch (error) {
      if (!failing.has(each.name)) logger.warn('metric_not_observed', { metric: each.name, reason: String(error) });
      failing.add(each.name); // (R4)
    }
    return [...points.values()];
  }

  async function collect(naming: Naming): Promise<CollectionResult> {
    const otel = await openTelemetry();
    const metrics = await Promise.all([...families.values()].map((each) => dataOf(each, naming, otel)));
    return { resourceMetrics: { resource: otel.emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
  }

  async function dataOf(each: Family, naming: Naming, otel: OpenTelemetry): Promise<MetricData> {
    const { AggregationTemporality, DataPointType, ValueType } = otel;
    const { help, unit = '' } = each.description;
    const isPrometheus = naming === 'prometheus';
    const descriptor = {
      name: isPrometheus ? prometheusName(each.name) : each.name,
      description: help,
      unit: isPrometheus ? '' : unit,
      valueType: ValueType.DOUBLE,
    };
    const data = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
    switch (each.description.kind) {
      case 'gauge':
        return { ...data, dataPointType: DataPointType.GAUGE, dataPoints: [...(await observed(each))] };
      case 'counter': {
        const endTime = hrTimeOf(Date.now());
        const dataPoints = each.counters.map(({ attributes, value }) => ({ attributes, value, startTime, endTime }));
        return { ...data, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
      }
      case 'histogram': {
        const endTime = hrTimeOf(Date.now());
        const dataPoints = each.histograms.map((cell) => ({
          ...{ attributes: cell.attributes, startTime, endTime },
          value: {
            count: cell.count,
            sum: cell.sum,
            buckets: { boundaries: [...cell.bounds], counts: [...cell.counts] },
          },
        }));
        return { ...data, dataPointType: DataPointType.HISTOGRAM, dataPoints };
      }
    }
  }

  return {
    counter: (name: CounterName, first, second, third): Counter =>
      family(name).cell(first, second, third) as CounterCell,
    histogram: (name: HistogramName, first, second, third): Histogram =>
      family(name).cell(first, second, third) as HistogramCell,
    gauge: (name: GaugeName, observe) => void families.get(name)?.observers.push(observe),
    producer: (naming) => ({ collect: () => collect(naming) }),
  };
}

/** @throws when the answer takes longer than `observeMsMax`. */
async function inTime(answer: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${observeMsMax} ms`)), observeMsMax);
  try {
    await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Observer = (report: Report) => void | Promise<void>;
type Cell = CounterCell | HistogramCell;
type Branch = Map<string, Branch | Cell>;

const familyOf = (name: MetricName): Family => new Family(name, describedMetric(name));

/** One metric and its series. */
class Family {
  readonly name: MetricName;
  readonly description: MetricDescription;
  readonly counters: CounterCell[] = [];
  readonly histograms: HistogramCell[] = [];
  readonly observers: Observer[] = [];
  readonly #constant: Attributes = {};
  /** Labels that callers pass, in order. (metric-table W3) */
  readonly #labels: { readonly name: string; readonly start: readonly string[]; readonly values: Set<string> }[] = [];
  readonly #cells: Branch = new Map();
  #only: Cell | null = null;

  constructor(name: MetricName, description: MetricDescription) {
    this.name = name;
    this.description = description;
    for (const [label, values] of Object.entries(description.labels)) {
      const start = typeof values === 'string' ? [values === 'open' ? otherValue : ''] : values;
      if (typeof values !== 'string' && values.length === 1) this.#constant[label] = values[0];
      else this.#labels.push({ name: label, start, values: new Set() });
    }
    if (description.kind !== 'gauge') this.#startAll([]);
  }

  /** (metric-table W4) */
  #startAll(before: readonly string[]): void {
    const next = this.#labels[before.length];
    if (next === undefined) this.cell(...before);
    else for (const value of next.start) this.#startAll([...before, value]);
  }

  /** (R2) */
  cell(first?: string, second?: string, third?: string): Cell {
    switch (this.#labels.length) {
      case 0:
        return (this.#only ??= this.#make([]));
      case 1:
        return this.#leaf(this.#cells, first) ?? this.#slow([first]);
      case 2: {
        const branch = this.#branch(this.#cells, first);
        return (branch && this.#leaf(branch, second)) ?? this.#slow([first, second]);
      }
      default: {
        const branch = this.#branch(this.#cells, first);
        const inner = branch && this.#branch(branch, second);
        return (inner && this.#leaf(inner, third)) ?? this.#slow([first, second, third]);
      }
    }
  }

  attributesOf(values: readonly (string | undefined)[]): Attributes {
    const attributes: Attributes = { ...this.#constant };
    for (const [place, { name }] of this.#labels.entries()) {
      const value = this.#allowed(place, values[place] ?? '');
      if (value !== '') attributes[name] = value; // (R3)
    }
    return attributes;
  }

  #branch(of: Branch, value = ''): Branch | undefined {
    const found = of.get(value);
    return found instanceof Map ? found : undefined;
  }

  #leaf(of: Branch, value = ''): Cell | undefined {
    const found = of.get(value);
    return found instanceof Map ? undefined : found;
  }

  #slow(values: readonly (string | undefined)[]): Cell {
    const allowed = values.map((value, place) => this.#allowed(place, value ?? ''));
    const last = allowed.pop() ?? '';
    let branch = this.#cells;
    for (const value of allowed) {
      const next = branch.get(value);
      if (next instanceof Map) branch = next;
      else {
        const made: Branch = new Map();
        branch.set(value, made);
        branch = made;
      }
    }
    const known = branch.get(last);
    if (known !== undefined && !(known instanceof Map)) return known;
    const made = this.#make([...allowed, last]);
    branch.set(last, made);
    return made;
  }

  /** (metrics Q3) */
  #allowed(place: number, value: string): string {
    const label = this.#labels[place];
    if (label === undefined || value === otherValue || value === '' || label.values.has(value)) return value;
    if (label.values.size >= labelValuesMax) return otherValue;
    label.values.add(value);
    return value;
  }

  #make(values: readonly string[]): Cell {
    const attributes = this.attributesOf(values);
    if (this.description.kind === 'histogram') {
      const made = new HistogramCell(attributes, this.description.buckets);
      this.histograms.push(made);
      return made;
    }
    const made = new CounterCell(attributes);
    this.counters.push(made);
    return made;
  }
}

class CounterCell implements Counter {
  readonly attributes: Attributes;
  value = 0;

  constructor(attributes: Attributes) {
    this.attributes = attributes;
  }

  add(count: number): void {
    this.value += count;
  }
}

class HistogramCell implements Histogram {
  readonly attributes: Attributes;
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(attributes: Attributes, bounds: readonly number[]) {
    this.attributes = attributes;
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** A clock that jumps back makes no negative time. */
  record(value: number): void {
    const taken = value > 0 ? value : 0;
    this.sum += taken;
    this.count += 1;
    let low = 0;
    let high = this.bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.bounds[middle] ?? Number.POSITIVE_INFINITY) < taken) low = middle + 1;
      else high = middle;
    }
    this.counts[low] = (this.counts[low] ?? 0) + 1;
  }
}

const hrTimeOf = (milliseconds: number): HrTime => [
  Math.floor(milliseconds / 1_000),
  Math.round((milliseconds % 1_000) * 1_000_000),
];
