// The table of the README: each figure from this run, beside its limit and its target. The tutorials keep everything in
// memory, so a ratio to them is reported and has no limit.
import type { BenchResults } from './bench-results.ts';
import { observabilityVerdicts } from './observability-report.ts';
import { clusterVerdicts } from '../cluster/cluster-report.ts';
import { atLeast, atMost, judge, ratioOf, type Verdict } from './verdict.ts';

export function verdictsOf(results: BenchResults): readonly Verdict[] {
  const speed = (threads: number, peer: string): number | null => ratio(results, threads, peer, 'turnsPerSecond');
  const wait = (threads: number, peer: string): number | null => ratio(results, threads, peer, 'p50');
  const { counts, growing, sleepers } = results;
  const [small, large] = [growing?.sizes[0], growing?.sizes.at(-1)];
  const grown = `${large?.events ?? 100_000} events / ${small?.events ?? 100}`;
  return [
    judge('turns/s at 64 threads, beside the tutorial with fetch', speed(64, 'tutorial-fetch'), '×', null, null),
    judge('turns/s at 64 threads, beside the tutorial with undici', speed(64, 'tutorial-undici'), '×', null, null),
    judge('p50 of a turn at 1 thread, beside the tutorial with fetch', wait(1, 'tutorial-fetch'), '×', null, null),
    judge('p50 of a turn at 1 thread, beside the tutorial with undici', wait(1, 'tutorial-undici'), '×', null, null),
    judge('turns/s at 64 threads, beside Restate', speed(64, 'restate'), '×', atLeast(4), atLeast(7)),
    judge('p50 of a turn at 1 thread, beside Restate', wait(1, 'restate'), '×', atMost(0.4), atMost(0.2)),
    judge(`warm p50 at ${grown}`, large?.warmRatio ?? null, '×', atMost(1.2), atMost(1.1)),
    judge(`cold p50 at ${grown}`, large?.coldRatio ?? null, '×', atMost(2), atMost(1)),
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
    judge(
      'syncs of a turn on one thread: at least one per commit',
      syncsAtOne(results, 'dormouse'),
      '',
      atLeast(4),
      null,
    ),
    judge(
      `CPU of one core, ${sleepers?.threads ?? 100_000} threads asleep`,
      sleepers?.asleep.cpuPercent ?? null,
      '%',
      atMost(1),
      atMost(0.1),
    ),
    judge('timers per sleeping thread', sleepers?.timersPerThread ?? null, '', atMost(0), atMost(0)),
    judge('idle RSS without threads', sleepers?.idle.rssMib ?? null, 'MiB', atMost(220), null),
    ...sealingVerdicts(results),
    ...(results.cluster === null ? [] : clusterVerdicts(results.cluster)),
    ...(results.observability === null ? [] : observabilityVerdicts(results.observability)),
    judge(`RSS, ${sleepers?.threads ?? 100_000} threads asleep`, sleepers?.asleep.rssMib ?? null, 'MiB', null, null),
  ];
}

/** What the sealing of contents costs, where the contestant without it took part. */
function sealingVerdicts(results: BenchResults): readonly Verdict[] {
  const beside = (results.turns ?? []).filter(({ contestant }) => contestant === 'unsealed');
  return [...new Set(beside.map(({ threads }) => threads))].map((threads) =>
    judge(
      `turns/s at ${threads} threads, contents sealed beside unsealed`,
      ratio(results, threads, 'unsealed', 'turnsPerSecond'),
      '×',
      atLeast(0.9),
      null,
    ),
  );
}

/** (B20) */
function ratio(results: BenchResults, threads: number, peer: string, figure: 'turnsPerSecond' | 'p50'): number | null {
  return ratioOf(results.turns ?? [], threads, peer, figure);
}

function syncsAtOne(results: BenchResults, name: string): number | null {
  return (
    results.counts?.syncs.find(({ contestant, threads }) => contestant === name && threads === 1)?.syncsPerTurn ?? null
  );
}
