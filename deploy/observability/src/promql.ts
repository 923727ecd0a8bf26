// The expressions that panels share. `$__rate_interval` is Grafana's: four scrapes, or the step of the graph.

/** Events per second, summed by labels. */
export const perSecond = (counter: string, ...by: readonly string[]): string =>
  `sum${byClause(by)} (rate(${counter}[$__rate_interval]))`;

/** A quantile of a histogram, by labels; of a histogram without an observation it is not a number. */
export const quantile = (share: number, histogram: string, ...by: readonly string[]): string =>
  `histogram_quantile(${share}, sum${byClause(['le', ...by])} (rate(${histogram}[$__rate_interval])))`;

export const largest = (gauge: string, ...by: readonly string[]): string => `max${byClause(by)} (${gauge})`;

export const total = (gauge: string, ...by: readonly string[]): string => `sum${byClause(by)} (${gauge})`;

const byClause = (labels: readonly string[]): string => (labels.length === 0 ? '' : ` by (${labels.join(', ')})`);
