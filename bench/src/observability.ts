// Scenario *observability*: what metrics and spans cost. The same app takes part several times, with other settings:
// bare, with metrics (the default), and with every turn traced; and, with --beside, another build of it, bare.
//
// Invariants:
//   B38. Spans go to a collector in a process of its own, whose time the traced one pays for: both share the machine.
//        Nothing scrapes while turns are measured.
//   B39. Counts are of processes that measure no time, on one warm thread: bytes by V8's sampling of allocations, which
//        includes what was collected; promises by async_hooks, after that; statements by the probe, in another process.
//        All of the main thread; the writer's statements too.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Started, startNode } from './child-process.ts';
import type { Contestant } from './contestant.ts';
import { type DormouseOptions, startDormouse } from './dormouse.ts';
import type { CollectorCounts } from './driver-job.ts';
import { countTurns, turnsOf } from './exact-counts.ts';
import { measureTurns, type TurnsMeasurement, type TurnsPlan } from './one-tool-turns.ts';
import type { AllocationAnswer } from './probe-answer.ts';
import type { Rig } from './bench-rig.ts';

export interface ObservabilityPlan {
  readonly turns: TurnsPlan;
  /** Of each count. */
  readonly counted: number;
  /** Root of another checkout of this repository, built; null for none. */
  readonly beside: string | null;
}

export interface ObservabilityResult {
  readonly turns: readonly TurnsMeasurement[];
  readonly counts: readonly ObservedCounts[];
}

/** All per turn. */
export interface ObservedCounts {
  readonly contestant: string;
  readonly spans: number;
  readonly allocatedKib: number;
  readonly promises: number;
  readonly logCommits: number;
  readonly transactions: number;
  readonly otherStatements: number;
}

/** `name`s of the contestants. */
export const observed = { bare: 'bare', metrics: 'metrics', traced: 'traced', beside: 'beside' } as const;

type Settings = Pick<DormouseOptions, 'environment' | 'app'>;

/** Longer than the delay of a batch, and of what is written behind a turn. */
const exportMs = 1_500;
const batchDelayMs = '500';

export async function measureObservability(rig: Rig, plan: ObservabilityPlan): Promise<ObservabilityResult> {
  const script = join(import.meta.dirname, 'collector.ts');
  const collector = await startNode('collector', script, rig.directory);
  try {
    const endpoint = (await collector.ask({ ask: 'base' })) as string;
    const settings = settingsOf(endpoint, plan.beside);
    const turns = await measureTurns(rig, Object.entries(settings).map(contestantOf), plan.turns);
    const counts: ObservedCounts[] = [];
    for (const [name, each] of Object.entries(settings))
      counts.push(await countOne(rig, collector, name, each, plan.counted));
    return { turns, counts };
  } finally {
    await collector.stop(1_000);
  }
}

function settingsOf(endpoint: string, beside: string | null): Readonly<Record<string, Settings>> {
  const off = { DORMOUSE_METRICS: 'false' };
  const traced = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/v1/traces`, OTEL_BSP_SCHEDULE_DELAY: batchDelayMs };
  return {
    [observed.bare]: { environment: off },
    [observed.metrics]: {},
    [observed.traced]: { environment: traced },
    // A build without metrics does not know their setting.
    ...(beside === null ? {} : { [observed.beside]: { app: join(beside, 'apps', 'standalone', 'dist', 'main.js') } }),
  };
}

const contestantOf = ([name, settings]: readonly [string, Settings]): Contestant => ({
  name,
  is: 'the standalone app',
  durable: 'every event, before it is acknowledged',
  start: async (setting) => ({ ...(await startDormouse({ ...setting, ...settings })), name }),
});

/** (B39) */
async function countOne(
  rig: Rig,
  collector: Started,
  name: string,
  settings: Settings,
  count: number,
): Promise<ObservedCounts> {
  const spans = async (): Promise<number> => {
    await sleep(exportMs);
    return ((await collector.ask({ ask: 'counts' })) as CollectorCounts).spans;
  };
  const start = async (probe: 'allocations' | 'statements') => {
    const directory = rig.room(`${name}-${probe}`);
    const running = await startDormouse({ tools: rig.tools, directory, probe, ...settings });
    const [target] = await running.openThreads(1);
    if (target === undefined) throw new Error('no thread was opened');
    await turnsOf(rig, target, count); // compiled, and the caches warm
    await sleep(exportMs);
    return { running, target };
  };

  const first = await start('allocations');
  const before = await spans();
  await first.running.process.ask({ ask: 'sample' });
  await turnsOf(rig, first.target, count);
  await first.running.process.ask({ ask: 'promises' });
  await turnsOf(rig, first.target, count);
  const { allocatedBytes, promises } = (await first.running.process.ask({ ask: 'allocated' })) as AllocationAnswer;
  const after = await spans();
  await first.running.stop();

  const second = await start('statements');
  const stored = await countTurns(rig, second.running, second.target, count);
  await second.running.stop();
  const { logCommits, transactions, otherStatements } = stored;
  const found = {
    ...{ contestant: name, spans: (after - before) / (2 * count) },
    ...{ allocatedKib: allocatedBytes / 1_024 / count, promises: promises / count },
    ...{ logCommits, transactions, otherStatements },
  };
  rig.say(
    `${name.padEnd(8)} per turn: ${found.spans.toFixed(2)} spans, ${found.allocatedKib.toFixed(0)} KiB, ${found.promises.toFixed(1)} promises, ${transactions} transactions`,
  );
  return found;
}
