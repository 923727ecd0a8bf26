// The table of issue 1, "Speed and memory": each figure from this run, beside what it must be and what we aim at.
//
// Invariants:
//   B19. A figure is null when this run did not measure it; it is printed as such and never as passed.
//   B20. A ratio of two contestants is the median of the ratios of their rounds.
import type { BenchResults } from './bench-results.ts';
import { median } from './statistics.ts';

export interface Verdict {
  readonly figure: string;
  readonly must: Bound | null;
  readonly aim: Bound | null;
  readonly measured: number | null;
  readonly unit: string;
  readonly verdict: 'aim met' | 'must met' | 'MISSED' | 'reported' | 'not measured';
}

export interface Bound {
  readonly is: 'at least' | 'at most';
  readonly value: number;
}

const atLeast = (value: number): Bound => ({ is: 'at least', value });
const atMost = (value: number): Bound => ({ is: 'at most', value });

export function verdictsOf(results: BenchResults): readonly Verdict[] {
  const speed = (threads: number, peer: string): number | null => ratio(results, threads, peer, 'turnsPerSecond');
  const wait = (threads: number, peer: string): number | null => ratio(results, threads, peer, 'p50');
  const { counts, growing, sleepers } = results;
  const [small, large] = [growing?.sizes[0], growing?.sizes.at(-1)];
  const grown = `${large?.events ?? 100_000} events / ${small?.events ?? 100}`;
  return [
    judge(
      'turns/s at 64 threads, beside the tutorial with fetch',
      speed(64, 'tutorial-fetch'),
      '×',
      atLeast(1),
      atLeast(1.5),
    ),
    judge(
      'turns/s at 64 threads, beside the tutorial with undici',
      speed(64, 'tutorial-undici'),
      '×',
      null,
      atLeast(0.7),
    ),
    judge(
      'p50 of a turn at 1 thread, beside the tutorial with fetch',
      wait(1, 'tutorial-fetch'),
      '×',
      atMost(2.5),
      atMost(1.7),
    ),
    judge('p50 of a turn at 1 thread, beside the tutorial with undici', wait(1, 'tutorial-undici'), '×', null, null),
    judge('turns/s at 64 threads, beside Restate', speed(64, 'restate'), '×', atLeast(4), atLeast(7)),
    judge('p50 of a turn at 1 thread, beside Restate', wait(1, 'restate'), '×', atMost(0.4), atMost(0.2)),
    judge(`warm p50 at ${grown}`, large?.warmRatio ?? null, '×', atMost(1.5), atMost(1.1)),
    judge(`cold p50 at ${grown}`, large?.coldRatio ?? null, '×', atMost(5), atMost(2)),
    judge('log commits per one-tool turn', counts?.plain.logCommits ?? null, '', atMost(4), atMost(4)),
    judge('other writes on the path, no Idempotency-Key', counts?.plain.writesOnPath ?? null, '', atMost(1), atMost(0)),
    judge(
      'other writes on the path, with Idempotency-Key',
      counts?.withKey.writesOnPath ?? null,
      '',
      atMost(1),
      atMost(0),
    ),
    judge('store reads per warm slice', counts?.plain.readsInSlices ?? null, '', atMost(0), atMost(0)),
    judge('syncs of a turn on one thread: at least one per commit', syncsAtOne(results), '', atLeast(4), atLeast(4)),
    judge(
      `CPU of one core, ${sleepers?.threads ?? 100_000} threads asleep`,
      sleepers?.asleep.cpuPercent ?? null,
      '%',
      atMost(1),
      atMost(0.1),
    ),
    judge('timers per sleeping thread', sleepers?.timersPerThread ?? null, '', atMost(0), atMost(0)),
    judge('idle RSS without threads', sleepers?.idle.rssMib ?? null, 'MiB', atMost(220), null),
    judge(`RSS, ${sleepers?.threads ?? 100_000} threads asleep`, sleepers?.asleep.rssMib ?? null, 'MiB', null, null),
  ];
}

function judge(figure: string, measured: number | null, unit: string, must: Bound | null, aim: Bound | null): Verdict {
  const known = measured !== null && !Number.isNaN(measured);
  return {
    figure,
    must,
    aim,
    measured: known ? measured : null,
    unit,
    verdict: known ? verdictOf(measured, must, aim) : 'not measured',
  }; // (B19)
}

function verdictOf(measured: number, must: Bound | null, aim: Bound | null): Verdict['verdict'] {
  if (aim !== null && holds(aim, measured)) return 'aim met';
  if (must !== null) return holds(must, measured) ? 'must met' : 'MISSED';
  return 'reported';
}

const holds = ({ is, value }: Bound, measured: number): boolean =>
  is === 'at least' ? measured >= value : measured <= value;

/** (B20) */
export function ratio(
  results: BenchResults,
  threads: number,
  peer: string,
  figure: 'turnsPerSecond' | 'p50',
): number | null {
  const rounds = (results.turns ?? []).filter((measurement) => measurement.threads === threads);
  const ratios: number[] = [];
  for (const ours of rounds.filter(({ contestant }) => contestant === 'dormouse')) {
    const theirs = rounds.find(({ contestant, round }) => contestant === peer && round === ours.round);
    if (theirs) ratios.push(ours[figure] / theirs[figure]);
  }
  return ratios.length === 0 ? null : median(ratios);
}

function syncsAtOne(results: BenchResults): number | null {
  return (
    results.counts?.syncs.find(({ contestant, threads }) => contestant === 'dormouse' && threads === 1)?.syncsPerTurn ??
    null
  );
}
