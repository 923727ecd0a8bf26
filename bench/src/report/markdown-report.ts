// The results as Markdown: what bench/results/latest.md holds, what the terminal shows, and what the README quotes.
import type { BenchResults } from './bench-results.ts';
import type { TurnsMeasurement } from '../one-tool-turns.ts';
import { observabilityTables } from './observability-report.ts';
import { clusterTables } from '../cluster/cluster-report.ts';
import { median, quartiles } from '../statistics.ts';
import { table } from './table.ts';
import { type Bound, ratiosOf, type Verdict } from './verdict.ts';
import { verdictsOf } from './verdicts.ts';

export function markdownOf(results: BenchResults): string {
  const parts = [headOf(results), verdictTable(verdictsOf(results))];
  if (results.turns) parts.push(turnsTable(results.contestants, results.turns));
  if (results.counts) parts.push(countsTable(results.counts));
  if (results.growing) parts.push(growingTable(results.growing));
  if (results.sleepers) parts.push(sleepersTable(results.sleepers));
  if (results.cluster) parts.push(clusterTables(results.cluster));
  if (results.observability) parts.push(observabilityTables(results.observability));
  return `${parts.join('\n\n')}\n`;
}

function headOf({ machine, quick, tookSeconds, contestants }: BenchResults): string {
  const lines = [
    '# Bench',
    '',
    `${machine.at}, commit ${machine.commit}, ${tookSeconds.toFixed(0)} s${quick ? ', **quick: not for quoting**' : ''}.`,
    `${machine.cpus}, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}; load at start ${machine.loadAtStart}; a 4 KiB append with fdatasync takes ${machine.syncMs} ms here.`,
    'Driver, tool server and contestant share the machine. Ratios are medians of per-round ratios.',
    '',
    ...contestants.map(({ name, is, durable }) => `* **${name}**: ${is}. On disk when it answers: ${durable}.`),
  ];
  return lines.join('\n');
}

function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map((each) => [
    each.figure,
    withUnit(each.measured, each.unit),
    boundOf(each.must),
    boundOf(each.aim),
    each.verdict,
  ]);
  return table('## Verdicts', ['figure', 'measured', 'must', 'aim', 'verdict'], rows);
}

function turnsTable(contestants: BenchResults['contestants'], turns: readonly TurnsMeasurement[]): string {
  const rows: string[][] = [];
  for (const threads of new Set(turns.map((each) => each.threads))) {
    for (const { name } of contestants) {
      const rounds = turns.filter((each) => each.threads === threads && each.contestant === name);
      if (rounds.length === 0) continue;
      const of = (figure: (each: TurnsMeasurement) => number): number => median(rounds.map(figure));
      const cpu = median(rounds.flatMap(({ cpuMsPerTurn }) => (cpuMsPerTurn === null ? [] : [cpuMsPerTurn])));
      rows.push([
        String(threads),
        name,
        of((each) => each.turnsPerSecond).toFixed(0),
        ...[of((each) => each.p50), of((each) => each.p90), of((each) => each.p99), cpu].map((value) =>
          value.toFixed(2),
        ),
        name === 'dormouse' ? '' : spreadOf(ratiosOf(turns, threads, name, 'turnsPerSecond')),
      ]);
    }
  }
  const heads = [
    'threads',
    'contestant',
    'turns/s',
    'p50 ms',
    'p90 ms',
    'p99 ms',
    'CPU ms per turn',
    'Dormouse’s turns/s beside it (the middle half of the rounds)',
  ];
  return table('## One-tool turns (medians of the rounds)', heads, rows);
}

function spreadOf(ratios: readonly number[]): string {
  if (ratios.length < 2) return ratios.length === 0 ? '' : withUnit(median(ratios), '×');
  const [from, to] = quartiles(ratios);
  return `${withUnit(median(ratios), '×')} (${from.toFixed(2)} to ${to.toFixed(2)})`;
}

function countsTable(counts: NonNullable<BenchResults['counts']>): string {
  const { plain, withKey } = counts;
  const row = (name: string, of: (each: typeof plain) => number): string[] => [
    name,
    figure(of(plain)),
    figure(of(withKey)),
  ];
  const rows = [
    row('log commits', (each) => each.logCommits),
    row('events', (each) => each.events),
    row('SQLite transactions', (each) => each.transactions),
    row('other writes on the path (transactions beyond the commits, rounded)', (each) => each.writesOnPath),
    row('other rows written, mostly with the commits', (each) => each.otherStatements),
    row('store reads in slices', (each) => each.readsInSlices),
    row('store reads of the edge', (each) => each.readsElsewhere),
    row('invocations received by the tool server', (each) => each.invocations),
    row('callbacks sent by the tool server', (each) => each.callbacks),
  ];
  const exact = table(
    `## Exact counts per turn (${counts.turns} turns on one warm thread)`,
    ['count', 'plain', 'with Idempotency-Key'],
    rows,
  );
  const syncs = counts.syncs.map((each) => [
    each.contestant,
    String(each.threads),
    figure(each.syncsPerTurn),
    figure(each.writesPerTurn),
  ]);
  if (syncs.length === 0) return `${exact}\n\nSyncs: ${counts.syncsCountedBy}.`;
  return `${exact}\n\n${table('Syncs asked of the kernel per turn, counted with strace:', ['contestant', 'threads', 'fsync + fdatasync', 'writes'], syncs)}`;
}

function growingTable({ sizes, buildSeconds }: NonNullable<BenchResults['growing']>): string {
  const rows = sizes.map((size) => [
    String(size.events),
    size.warmP50Ms.toFixed(2),
    withUnit(size.warmRatio, '×'),
    size.coldP50Ms.toFixed(2),
    withUnit(size.coldRatio, '×'),
    String(size.promptMessages),
    String(size.promptBytes),
  ]);
  const heads = [
    'events',
    'warm p50 ms',
    'beside the first',
    'cold p50 ms',
    'beside the first',
    'messages in the prompt',
    'bytes of it rendered',
  ];
  return table(
    `## Growing thread (grown in ${buildSeconds.toFixed(0)} s; cold is the first turn after a restart)`,
    heads,
    rows,
  );
}

function sleepersTable({
  threads,
  watchedSeconds,
  createdPerSecond,
  idle,
  asleep,
  timersPerThread,
}: NonNullable<BenchResults['sleepers']>): string {
  const row = (name: string, each: typeof idle): string[] => [
    name,
    withUnit(each.cpuPercent, '%'),
    withUnit(each.rssMib, 'MiB'),
    each.heapMib.toFixed(0),
    String(each.timers),
  ];
  const heads = ['', 'CPU of one core', 'RSS', 'live heap MiB', 'timers alive'];
  const rows = [row('no threads', idle), row(`${threads} asleep`, asleep)];
  return `${table(`## Sleepers (watched ${watchedSeconds} s)`, heads, rows)}\n\nCreated and put to sleep at ${createdPerSecond.toFixed(0)} per second; ${figure(timersPerThread)} timers per thread. The sleepers' process has the probe loaded, about 20 MiB; the one without threads has not.`;
}

const figure = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1));
const withUnit = (value: number | null, unit: string): string =>
  value === null ? '–' : `${figure(value)}${unit === '' || unit === '×' ? unit : ` ${unit}`}`;
const boundOf = (bound: Bound | null): string =>
  bound === null ? 'report' : `${bound.is === 'at least' ? '≥' : '≤'} ${bound.value}`;
