// Two standalone processes under the same load at the same time, both tracing every turn: the collector of one is well,
// that of the other is away, slow and failing in turn. What the second does otherwise than the first is the effect.
//
// Invariants:
//   B1. Both are driven by one driver with as many threads each, so that noise of the machine is the same for both;
//       turns are counted by each process itself.
//   B2. Before the collector turns bad both have worked for `warmSeconds`: memory is compared from there.
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { startNode } from '../../bench/src/child-process.ts';
import { type RunningDormouse, startDormouse } from '../../bench/src/dormouse.ts';
import type { CollectorBehaviour, CollectorCounts } from '../../bench/src/driver-job.ts';
import { figuresOf } from '../../bench/src/process-figures.ts';
import type { Rig } from '../../bench/src/bench-rig.ts';
import { median } from '../../bench/src/statistics.ts';
import { readScrape, valueOf } from '../metrics/prometheus-text.ts';

export interface BadCollectorOrder {
  readonly warmSeconds: number;
  /** With a collector that is bad. */
  readonly seconds: number;
}

export interface BadCollectorFound {
  /** Turns of the process with the bad collector beside the other's, in each window. */
  readonly ratios: readonly number[];
  /** How much more its resident memory has grown, by the medians of the last windows. */
  readonly rssMibMore: number;
  readonly warnings: number;
  readonly turns: number;
  readonly dropped: number;
  /** Of a turn, as the collector that is well has counted. */
  readonly spansPerTurn: number;
  /** Spans of the other process that were dropped. */
  readonly droppedBesides: number;
}

const bad: readonly CollectorBehaviour[] = ['away', 'slow', 'failing'];
const threadsEach = 4;
const windowSeconds = 5;

interface Seen {
  readonly turns: number;
  readonly dropped: number;
  readonly rssMib: number;
}

async function look(process: RunningDormouse): Promise<Seen> {
  const scrape = readScrape(await (await fetch(`${process.url}/metrics`, { headers: process.headers })).text());
  return {
    turns: valueOf(scrape, 'dormouse_turns_total'),
    dropped: valueOf(scrape, 'dormouse_spans_dropped_total'),
    rssMib: figuresOf(process.pids)?.rssMib ?? Number.NaN,
  };
}

export async function underBadCollector(rig: Rig, order: BadCollectorOrder): Promise<BadCollectorFound> {
  const script = join(import.meta.dirname, '..', '..', 'bench', 'src', 'collector.ts');
  const collectors = await Promise.all(
    ['well', 'bad'].map((name) => startNode(`collector-${name}`, script, rig.directory)),
  );
  const [well, worse] = collectors;
  if (well === undefined || worse === undefined) throw new Error('no collectors');
  const start = async (name: string, collector: typeof well): Promise<RunningDormouse> =>
    startDormouse({
      ...{ tools: rig.tools, directory: rig.room(name) },
      environment: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${String(await collector.ask({ ask: 'base' }))}/v1/traces` },
    });
  const processes = [await start('well', well), await start('bad', worse)] as const;
  try {
    const targets = (await Promise.all(processes.map((each) => each.openThreads(threadsEach)))).flat();
    const { warmSeconds, seconds } = order;
    const driving = rig.drive({ targets, warmupSeconds: 0, seconds: warmSeconds + seconds }); // (B1)
    driving.catch(() => {}); // awaited below
    const looks = (): Promise<Seen[]> => Promise.all(processes.map(look));
    await sleep(warmSeconds * 1_000);
    const first = await looks(); // (B2)
    const windows = [first];
    for (const from = performance.now(); ;) {
      const left = seconds - (performance.now() - from) / 1_000;
      if (left < windowSeconds) break;
      const how = bad[Math.floor(((seconds - left) / seconds) * bad.length)] ?? 'failing';
      await worse.ask({ ask: 'behave', how });
      await sleep(windowSeconds * 1_000);
      windows.push(await looks());
    }
    await driving;
    const last = await looks();
    const spans = ((await well.ask({ ask: 'counts' })) as CollectorCounts).spans;
    return found(windows, last, spans, processes[1].process.output());
  } finally {
    await Promise.all(processes.map((each) => each.stop()));
    await Promise.all(collectors.map((each) => each.stop(1_000)));
  }
}

function found(
  windows: readonly (readonly Seen[])[],
  last: readonly Seen[],
  spans: number,
  output: string,
): BadCollectorFound {
  const of = (seen: readonly Seen[] | undefined, place: 0 | 1): Seen => {
    const found = seen?.[place];
    if (found === undefined) throw new Error('nothing was seen');
    return found;
  };
  const grown = (place: 0 | 1): number =>
    median(windows.slice(-Math.ceil(windows.length / 4)).map((each) => of(each, place).rssMib)) -
    of(windows[0], place).rssMib;
  const turnsIn = (nth: number, place: 0 | 1): number =>
    of(windows[nth], place).turns - of(windows[nth - 1], place).turns;
  const ratios = windows.slice(1).map((_, nth) => turnsIn(nth + 1, 1) / turnsIn(nth + 1, 0));
  return {
    ratios,
    rssMibMore: grown(1) - grown(0),
    warnings: output.split('telemetry_failed').length - 1,
    turns: of(last, 1).turns - of(windows[0], 1).turns,
    dropped: of(last, 1).dropped,
    spansPerTurn: spans / of(last, 0).turns,
    droppedBesides: of(last, 0).dropped,
  };
}
