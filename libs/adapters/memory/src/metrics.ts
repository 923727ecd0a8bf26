// Metrics as plain data, for specs. Port: ports/world/metrics.ts.
import type { Metrics } from '@dormouse/ports';

export interface MemoryMetrics extends Metrics {
  /** Sum of a counter, or the values of a histogram, by `name` and the label values after it. */
  readonly counted: ReadonlyMap<string, number>;
  readonly recorded: ReadonlyMap<string, readonly number[]>;
  /** What the observers of a gauge report now, by its label values. */
  observe(name: string): Promise<ReadonlyMap<string, number>>;
}

const seriesOf = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(' ');

export function createMemoryMetrics(): MemoryMetrics {
  const counted = new Map<string, number>();
  const recorded = new Map<string, number[]>();
  const observers = new Map<string, Parameters<Metrics['gauge']>[1][]>();
  return {
    counted,
    recorded,
    counter: (...parts) => ({
      add: (count) => void counted.set(seriesOf(...parts), (counted.get(seriesOf(...parts)) ?? 0) + count),
    }),
    histogram: (...parts) => ({
      record: (value) => void recorded.set(seriesOf(...parts), [...(recorded.get(seriesOf(...parts)) ?? []), value]),
    }),
    gauge: (name, observe) => void observers.set(name, [...(observers.get(name) ?? []), observe]),
    observe: async (name) => {
      const values = new Map<string, number>();
      for (const observe of observers.get(name) ?? [])
        await observe((value, ...labels) => void values.set(seriesOf(...labels), value));
      return values;
    },
  };
}
