// Scenario *growing thread*: does a turn cost more when the thread has a long past? Warm, and cold after a restart.
//
// The model is in process and gets its prompt by reference: it reads the last message, as a provider with its own cache
// of the prompt would. The threads are grown by sending messages over the client API.
//
// Invariants:
//   B13. Warm turns of all sizes alternate in every round, one at a time. Cold is the first turn of a thread after a
//        restart of a process that was warmed on other threads, warm and cold ones, so that it shows the thread's cost,
//        not the process's. The order of the sizes changes with every restart.
import { type RunningDormouse, startDormouse } from './dormouse.ts';
import type { Target } from './driver-job.ts';
import type { Rig } from './bench-rig.ts';
import { median, percentile } from './statistics.ts';

export interface GrowingPlan {
  /** Events, smallest first, and how many threads of each size. */
  readonly sizes: readonly { readonly events: number; readonly threads: number }[];
  readonly warmRounds: number;
  readonly turnsPerRound: number;
  readonly restarts: number;
}

export interface GrowingResult {
  readonly sizes: readonly SizeResult[];
  readonly buildSeconds: number;
}

export interface SizeResult {
  readonly events: number;
  /** Position of a thread of this size when it was measured. */
  readonly position: number;
  readonly warmP50Ms: number;
  readonly coldP50Ms: number;
  readonly coldSamples: number;
  /** Median of per-round ratios to the smallest size. */
  readonly warmRatio: number;
  readonly coldRatio: number;
  /** Messages in the prompt of the last turn, and bytes of it that were rendered. */
  readonly promptMessages: number;
  readonly promptBytes: number;
}

interface GrownSize {
  readonly events: number;
  readonly threads: readonly string[];
}

const hourSeconds = 3_600;
const echoTurn = { body: JSON.stringify({ text: 'Please repeat "{token}"' }), expect: '{token}' };
const warmupTurns = 400;
const coldThreadsMax = 8;
const scratchThreads = 40;
/** About as many events as the smallest threads have. */
const scratchTurns = 35;

export async function measureGrowth(rig: Rig, plan: GrowingPlan): Promise<GrowingResult> {
  const directory = rig.room('growing');
  let running = await startDormouse({ tools: rig.tools, directory });
  try {
    const began = performance.now();
    const grown = await grow(rig, running, plan);
    const buildSeconds = (performance.now() - began) / 1_000;
    rig.say(
      `threads of ${plan.sizes.map(({ events }) => events).join(', ')} events grown in ${buildSeconds.toFixed(0)} s`,
    );
    const warm = await measureWarm(rig, running, grown, plan);
    const scratch = await running.createThreads('echo', scratchThreads);
    await turns(
      rig,
      scratch.map((id) => ({ ...running.turnOf(id, echoTurn), turnsMax: scratchTurns })),
      8,
    );
    const cold: number[][][] = [];
    for (let restart = 0; restart < plan.restarts; restart++) {
      await running.stop();
      running = await startDormouse({ tools: rig.tools, directory });
      cold.push(await measureCold(rig, running, grown, scratch, restart));
    }
    const sizes = [];
    for (const [index, size] of grown.entries()) sizes.push(await resultOf(running, size, index, warm, cold));
    return { sizes, buildSeconds };
  } finally {
    await running.stop();
  }
}

async function grow(rig: Rig, running: RunningDormouse, plan: GrowingPlan): Promise<readonly GrownSize[]> {
  const [probe = ''] = await running.createThreads('echo', 1);
  const turnsToLearn = 10;
  await turns(rig, [{ ...running.turnOf(probe, echoTurn), turnsMax: turnsToLearn }], 1);
  const eventsPerTurn = (await positionOf(running, probe)) / turnsToLearn;
  const grown: GrownSize[] = [];
  const targets: Target[] = [];
  for (const { events, threads } of plan.sizes) {
    const ids = await running.createThreads('echo', threads);
    grown.push({ events, threads: ids });
    for (const id of ids)
      targets.push({ ...running.turnOf(id, echoTurn), turnsMax: Math.ceil(events / eventsPerTurn) });
  }
  // The longest first: they finish last.
  await turns(rig, targets.toReversed(), 16);
  return grown;
}

async function measureWarm(
  rig: Rig,
  running: RunningDormouse,
  grown: readonly GrownSize[],
  plan: GrowingPlan,
): Promise<number[][]> {
  const rounds: number[][] = [];
  for (let round = 0; round < plan.warmRounds; round++) {
    const medians: number[] = [];
    for (const { threads } of grown) {
      const thread = threads[round % threads.length] ?? '';
      const latencies = await turns(rig, [{ ...running.turnOf(thread, echoTurn), turnsMax: plan.turnsPerRound }], 1);
      medians.push(percentile(latencies, 0.5));
    }
    rounds.push(medians);
  }
  return rounds;
}

/** Of each size the first turns of its threads after a restart. */
async function measureCold(
  rig: Rig,
  running: RunningDormouse,
  grown: readonly GrownSize[],
  scratch: readonly string[],
  restart: number,
): Promise<number[][]> {
  const fresh = await running.createThreads('echo', 4);
  await turns(
    rig,
    fresh.map((id) => ({ ...running.turnOf(id, echoTurn), turnsMax: warmupTurns / 4 })),
    1,
  );
  await turns(
    rig,
    scratch.map((id) => ({ ...running.turnOf(id, echoTurn), turnsMax: 1 })),
    1,
  );
  const samples: number[][] = [];
  for (let turn = 0; turn < grown.length; turn++) {
    const index = (turn + restart) % grown.length;
    const targets = (grown[index]?.threads ?? [])
      .slice(0, coldThreadsMax)
      .map((id) => ({ ...running.turnOf(id, echoTurn), turnsMax: 1 }));
    samples[index] = [...(await turns(rig, targets, 1))];
  }
  return samples;
}

async function resultOf(
  running: RunningDormouse,
  size: GrownSize,
  index: number,
  warm: number[][],
  cold: number[][][],
): Promise<SizeResult> {
  const [thread = ''] = size.threads;
  const position = await positionOf(running, thread);
  const prompt = await lastPrompt(running, thread, position);
  const coldSamples = cold.flatMap((restart) => restart[index] ?? []);
  const coldMedian = (restart: number[][], at: number): number => median(restart[at] ?? []);
  return {
    events: size.events,
    position,
    warmP50Ms: median(warm.map((round) => round[index] ?? Number.NaN)),
    coldP50Ms: median(coldSamples),
    coldSamples: coldSamples.length,
    warmRatio: median(warm.map((round) => (round[index] ?? Number.NaN) / (round[0] ?? Number.NaN))),
    coldRatio: median(cold.map((restart) => coldMedian(restart, index) / coldMedian(restart, 0))),
    ...prompt,
  };
}

/** The scripted model reports the prompt's length as its input tokens, and has read the last message only. */
async function lastPrompt(
  running: RunningDormouse,
  thread: string,
  position: number,
): Promise<{ promptMessages: number; promptBytes: number }> {
  const page = await running.get(`/v1/threads/${thread}/events?after=${Math.max(0, position - 4)}&limit=10`);
  const events = page['data'] as readonly Record<string, unknown>[];
  const recorded = events.findLast((event) => event['type'] === 'completion_recorded');
  const usage = recorded?.['usage'] as { readonly input_tokens: number } | undefined;
  const message = recorded?.['message'] as { readonly text: string } | undefined;
  return { promptMessages: usage?.input_tokens ?? Number.NaN, promptBytes: Buffer.byteLength(message?.text ?? '') };
}

async function positionOf(running: RunningDormouse, thread: string): Promise<number> {
  return Number((await running.get(`/v1/threads/${thread}`))['position']);
}

async function turns(rig: Rig, targets: readonly Target[], concurrency: number): Promise<readonly number[]> {
  return (await rig.drive({ targets, concurrency, warmupSeconds: 0, seconds: hourSeconds })).latenciesMs;
}
