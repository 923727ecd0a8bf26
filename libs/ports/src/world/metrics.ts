// What a process measures of itself, for its operators. The names, labels and buckets are in `metric-table.ts`; an
// adapter keeps the values and exports them.
//
// Invariants:
//   Q1. `counter` and `histogram` return the instrument of one set of label values, in the order of the table: the same
//       one each time, made once. A caller that knows its label values binds it once.
//   Q2. Neither binding a known set nor counting allocates, and without metrics nothing is kept.
//   Q3. A label has at most `labelValuesMax` values in a process; any further value counts as `other`.
//   Q4. No method throws, and none waits: measuring never changes what is measured.
import type { CounterName, GaugeName, HistogramName } from './metric-table.ts';

/** A further label value counts as `otherValue`. (Q3) */
export const labelValuesMax = 100;
export const otherValue = 'other';

export interface Counter {
  add(count: number): void;
}

export interface Histogram {
  record(value: number): void;
}

/** Sets one series of a gauge; label values in the order of the table. */
export type Report = (value: number, first?: string, second?: string) => void;

export interface Metrics {
  counter(name: CounterName, first?: string, second?: string, third?: string): Counter;
  histogram(name: HistogramName, first?: string, second?: string, third?: string): Histogram;
  /** `observe` is called whenever the metrics are read; a series that it does not report is not exported then. */
  gauge(name: GaugeName, observe: (report: Report) => void | Promise<void>): void;
}

const uncounted: Counter = { add: () => {} };
const unrecorded: Histogram = { record: () => {} };

/** Metrics are off. (Q2) */
export const noMetrics: Metrics = {
  counter: () => uncounted,
  histogram: () => unrecorded,
  gauge: () => {},
};

/** Whether anything is kept: a decorator for nothing is left out. */
export const areKept = (metrics: Metrics): boolean => metrics !== noMetrics;
