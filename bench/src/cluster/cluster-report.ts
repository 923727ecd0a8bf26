// The table of issue 2, "Speed": each figure of one run, beside its limit and its target.
import { atLeast, atMost, judge, ratioOf, type Verdict } from '../report/verdict.ts';
import { sumOfFloors } from './floors.ts';
import type { ClusterResult } from './measure-cluster.ts';

export function clusterVerdicts(cluster: ClusterResult): readonly Verdict[] {
  const { floors, turns, history, slow, counts, idle, takeover } = cluster;
  const beside = (threads: number, figure: 'turnsPerSecond' | 'p50'): number | null =>
    ratioOf(turns, threads, 'naive', figure);
  const p50s = turns.filter(({ contestant, threads }) => contestant === 'dormouse' && threads === 1);
  const p50 = p50s.map((each) => each.p50).toSorted((a, b) => a - b)[Math.floor(p50s.length / 2)] ?? Number.NaN;
  const busiest = Math.max(...idle.map(({ cpuPercent }) => cpuPercent ?? Number.NaN));
  const { sessionTimeoutMs, untilAllGoOnMs, lost, doubled } = takeover;
  return [
    judge('cluster: turns/s at 64 threads, beside naive', beside(64, 'turnsPerSecond'), '×', atLeast(3), atLeast(8)),
    judge('cluster: p50 of a turn at 1 thread, beside naive', beside(1, 'p50'), '×', null, null),
    judge(
      `cluster: p50 after ${history.turnsBefore} turns of history, beside naive`,
      history.dormouseP50Ms / history.naiveP50Ms,
      '×',
      atMost(0.4),
      atMost(0.2),
    ),
    judge(
      `cluster: completions at once, ${slow.threads} threads, 2 s model, ${slow.partitions} partitions, beside naive`,
      slow.dormouseInFlight / slow.naiveInFlight,
      '×',
      atLeast(20),
      atLeast(80),
    ),
    judge(
      'cluster: p50 of a turn beside the sum of its raw floors',
      p50 / sumOfFloors(floors),
      '×',
      atMost(2),
      atMost(1.3),
    ),
    judge('cluster: log commits per one-tool turn', counts.logCommits, '', atMost(4), atMost(4)),
    judge('cluster: store round trips for them at 64 threads', counts.storeRoundTrips, '', atMost(2), atMost(1)),
    judge('cluster: store reads per warm turn', counts.reads, '', atMost(0), atMost(0)),
    judge('cluster: idle CPU of the busiest service', busiest, '%', atMost(2), atMost(1)),
    judge(`takeover of ${takeover.completions} completions: lost`, lost, '', atMost(0), atMost(0)),
    judge('takeover: doubled', doubled, '', atMost(0), atMost(0)),
    judge(
      `takeover: until all threads go on (session timeout ${sessionTimeoutMs / 1_000} s)`,
      untilAllGoOnMs / 1_000,
      's',
      atMost(sessionTimeoutMs / 1_000 + 3),
      null,
    ),
    judge(
      `completions bought twice on a clean rolling restart (${takeover.inFlightOnRollingRestart} in flight)`,
      takeover.boughtTwiceOnRollingRestart,
      '',
      atMost(takeover.inFlightOnRollingRestart / 2),
      atMost(0),
    ),
  ];
}

export function clusterTables(cluster: ClusterResult): string {
  const { floors, history, slow, duplicates, idle } = cluster;
  const lines = [
    '## Cluster',
    '',
    `Raw floors: a Kafka hop ${floors.kafkaHopMs.toFixed(2)} ms, a majority insert ${floors.mongoInsertMs.toFixed(2)} ms, an HTTP exchange ${floors.httpMs.toFixed(2)} ms; a turn is 3 hops, 4 inserts and 3 exchanges, ${sumOfFloors(floors).toFixed(2)} ms.`,
    '',
    '| scenario | dormouse | naive |',
    '| --- | --- | --- |',
    `| p50 after ${history.turnsBefore} turns (${history.dormouseEvents} and ${history.naiveEvents} events) | ${history.dormouseP50Ms.toFixed(2)} ms | ${history.naiveP50Ms.toFixed(2)} ms |`,
    `| completions at once, 2 s model, ${slow.threads} threads, ${slow.partitions} partitions | ${slow.dormouseInFlight} | ${slow.naiveInFlight} |`,
    `| turns/s at 64 threads, 20 % of the results twice and out of order | ${perSecond(duplicates, 'dormouse')} | ${perSecond(duplicates, 'naive')} |`,
    '',
    '| service, idle | CPU of one core |',
    '| --- | --- |',
    ...idle.map(
      ({ service, cpuPercent }) => `| ${service} | ${cpuPercent === null ? '–' : `${cpuPercent.toFixed(2)} %`} |`,
    ),
  ];
  return lines.join('\n');
}

function perSecond(duplicates: ClusterResult['duplicates'], name: string): string {
  const found = duplicates.find(({ contestant }) => contestant === name);
  return found === undefined ? '–' : `${found.turnsPerSecond.toFixed(0)}, ${found.wrongAnswers} wrong answers`;
}
