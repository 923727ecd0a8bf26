// Runs the requested scenarios, one after another, and returns their results.
import type { BenchOptions } from './bench-options.ts';
import type { BenchResults } from './report/bench-results.ts';
import { type ClusterPlan, measureCluster } from './cluster/measure-cluster.ts';
import type { Contestant } from './contestant.ts';
import { dormouse } from './dormouse.ts';
import { countExactly } from './exact-counts.ts';
import { floor } from './floor.ts';
import { type GrowingPlan, measureGrowth } from './growing-thread.ts';
import { describeMachine } from './machine.ts';
import { measureObservability, type ObservabilityPlan } from './observability.ts';
import { measureTurns } from './one-tool-turns.ts';
import { availablePeers, installPeers, peersAreInstalled } from './peers.ts';
import { measureSleepers } from './sleepers.ts';
import { openRig, type Rig } from './bench-rig.ts';
import { unsealed } from './unsealed.ts';

/** The load of a quiet machine in the last minute, at most. */
const loadMax = 1;

export async function runBench(options: BenchOptions, say: (line: string) => void): Promise<BenchResults> {
  const began = performance.now();
  if (options.withPeers && !peersAreInstalled()) installPeers();
  const contestants = contestantsOf(options);
  if (!peersAreInstalled())
    say('bench/peers is not installed: Dormouse runs alone. For the comparison: npm run bench -- --with-peers');
  const rig = await openRig(say);
  try {
    const machine = describeMachine(rig.directory);
    if (machine.loadAtStart > loadMax)
      say(
        `load ${machine.loadAtStart}: something else runs here, or did a minute ago. Figures of a quiet machine are others.`,
      );
    const measured = await runScenarios(rig, contestants, options);
    const tookSeconds = (performance.now() - began) / 1_000;
    return {
      machine,
      quick: options.quick,
      tookSeconds,
      contestants: contestants.map(({ name, is, durable }) => ({ name, is, durable })),
      ...measured,
    };
  } finally {
    await rig.close(options.keep);
    if (options.keep) say(`data and output of this run: ${rig.directory}`);
  }
}

async function runScenarios(
  rig: Rig,
  contestants: readonly Contestant[],
  options: BenchOptions,
): Promise<Pick<BenchResults, 'turns' | 'counts' | 'growing' | 'sleepers' | 'cluster' | 'observability'>> {
  const { quick, rounds, seconds, threads } = options;
  const wants = (name: BenchOptions['scenarios'][number]): boolean => options.scenarios.includes(name);
  const warmupSeconds = quick ? 0.5 : 1;
  const firstWarmupSeconds = quick ? 2 : 30;
  const counts = { turns: quick ? 100 : 300, manyThreads: Math.max(...threads) };
  const sleepers = { threads: options.sleepers, seconds: options.sleepSeconds };
  return {
    turns: wants('turns')
      ? await measureTurns(rig, contestants, { rounds, seconds, warmupSeconds, firstWarmupSeconds, threads })
      : null,
    counts: wants('counts') ? await countExactly(rig, contestants, counts) : null,
    growing: wants('growing') ? await measureGrowth(rig, growingPlan(quick)) : null,
    sleepers: wants('sleepers') ? await measureSleepers(rig, sleepers) : null,
    cluster: wants('cluster') ? await measureCluster(rig, clusterPlan(options)) : null,
    observability: wants('observability') ? await measureObservability(rig, observabilityPlan(options)) : null,
  };
}

function clusterPlan({ quick, rounds, seconds }: BenchOptions): ClusterPlan {
  return quick
    ? { rounds, seconds, firstWarmupSeconds: 5, historyTurns: 30, slowThreads: 100, idleSeconds: 3 }
    : { rounds, seconds, firstWarmupSeconds: 60, historyTurns: 250, slowThreads: 1_000, idleSeconds: 15 };
}

function observabilityPlan({ quick, rounds, seconds, threads, beside }: BenchOptions): ObservabilityPlan {
  const [warmupSeconds, firstWarmupSeconds] = quick ? [0.5, 2] : [1, 30];
  const turns = { rounds, seconds, warmupSeconds, firstWarmupSeconds, threads };
  return { turns, counted: quick ? 100 : 500, beside };
}

function growingPlan(quick: boolean): GrowingPlan {
  if (quick) {
    const sizes = [
      { events: 100, threads: 8 },
      { events: 3_000, threads: 1 },
    ];
    return { sizes, warmRounds: 3, turnsPerRound: 20, restarts: 1 };
  }
  const sizes = [
    { events: 100, threads: 12 },
    { events: 10_000, threads: 3 },
    { events: 100_000, threads: 2 },
  ];
  return { sizes, warmRounds: 12, turnsPerRound: 30, restarts: 3 };
}

/** Contestants that run on request only. */
const onRequest: ReadonlySet<string> = new Set(['restate-lean', 'floor', 'unsealed']);

/** @throws TypeError when an unknown contestant is requested. */
function contestantsOf({ contestants }: BenchOptions): readonly Contestant[] {
  const there = [dormouse, floor, unsealed, ...availablePeers()];
  if (contestants === null) return there.filter(({ name }) => !onRequest.has(name));
  return contestants.map((wanted) => {
    const found = there.find(({ name }) => name === wanted);
    if (found === undefined)
      throw new TypeError(`--contestant ${wanted}: there are ${there.map(({ name }) => name).join(', ')}`);
    return found;
  });
}
