// What metrics and spans cost, of one run: the table of issue 32, "Cost".
import { type ObservabilityResult, observed } from '../observability.ts';
import { median, quartiles } from '../statistics.ts';
import { table } from './table.ts';
import { atLeast, judge, ratiosOf, type Verdict } from './verdict.ts';

type Pair = readonly [of: string, beside: string];

const tracedBesideMetrics: Pair = [observed.traced, observed.metrics];
const metricsBesideBare: Pair = [observed.metrics, observed.bare];
const bareBesideOther: Pair = [observed.bare, observed.beside];

export function observabilityVerdicts({ turns }: ObservabilityResult): readonly Verdict[] {
  const widths = [...new Set(turns.map(({ threads }) => threads))];
  const ratio = ([of, beside]: Pair, threads: number): number | null => {
    const ratios = ratiosOf(turns, threads, beside, 'turnsPerSecond', of);
    return ratios.length === 0 ? null : median(ratios);
  };
  return widths.flatMap((threads) => [
    judge(
      `turns/s at ${threads} threads, every turn traced beside none`,
      ratio(tracedBesideMetrics, threads),
      '×',
      atLeast(0.8),
      atLeast(0.9),
    ),
    judge(
      `turns/s at ${threads} threads, metrics beside none`,
      ratio(metricsBesideBare, threads),
      '×',
      atLeast(0.95),
      null,
    ),
  ]);
}

export function observabilityTables({ turns, counts }: ObservabilityResult): string {
  const spread = (threads: number, [of, beside]: Pair): string => {
    const ratios = ratiosOf(turns, threads, beside, 'turnsPerSecond', of);
    if (ratios.length === 0) return '–';
    const [from, to] = quartiles(ratios);
    return `${median(ratios).toFixed(2)}× (${from.toFixed(2)} to ${to.toFixed(2)})`;
  };
  const speeds = [...new Set(turns.map(({ threads }) => threads))].map((threads) => {
    const perSecond = (name: string): string => {
      const rounds = turns.filter((each) => each.contestant === name && each.threads === threads);
      return rounds.length === 0 ? '–' : median(rounds.map(({ turnsPerSecond }) => turnsPerSecond)).toFixed(0);
    };
    return [
      String(threads),
      ...Object.values(observed).map(perSecond),
      ...[tracedBesideMetrics, metricsBesideBare, bareBesideOther].map((pair) => spread(threads, pair)),
    ];
  });
  const heads = ['threads', ...Object.values(observed).map((name) => `${name}, turns/s`)];
  const pairs = ['traced beside metrics', 'metrics beside bare', 'bare beside the other build'];
  const costs = counts.map((each) => [
    each.contestant,
    each.spans.toFixed(2),
    each.allocatedKib.toFixed(0),
    each.promises.toFixed(1),
    each.logCommits.toFixed(2),
    each.transactions.toFixed(2),
    each.otherStatements.toFixed(2),
  ]);
  const costHeads = ['', 'spans', 'allocated KiB', 'promises', 'log commits', 'transactions', 'other rows written'];
  return [
    table('## Metrics and spans (medians of the rounds; the middle half of the ratios)', [...heads, ...pairs], speeds),
    table('## Counts per turn, on one warm thread', costHeads, costs),
  ].join('\n\n');
}
