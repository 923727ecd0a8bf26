// Scenario *sleepers*: threads that wait for a tool that never answers. What do they cost while nothing happens?
//
// Invariants:
//   B14. CPU time is the kernel's for the whole process over the whole time watched; no request reaches it meanwhile.
//   B18. Timers per thread are those that came with the second half of the threads: timers of connections and pools
//        exist already when the first half sleeps.
//   B33. The cost of idling is measured on a process of its own without the probe, whose loading takes 20 MiB.
import { setTimeout as sleep } from 'node:timers/promises';
import { startDormouse, type RunningDormouse } from './dormouse.ts';
import type { ProbeAnswer } from './probe-answer.ts';
import { figuresOf } from './process-figures.ts';
import type { Rig } from './bench-rig.ts';

export interface SleepersPlan {
  readonly threads: number;
  readonly seconds: number;
}

export interface SleepersResult {
  readonly threads: number;
  readonly watchedSeconds: number;
  readonly createdPerSecond: number;
  /** Without a thread, and with all of them asleep. CPU in percent of one core. */
  readonly idle: Resting;
  readonly asleep: Resting;
  /** (B18) */
  readonly timersPerThread: number;
}

/** As reported by the kernel. */
interface AtRest {
  readonly cpuPercent: number | null;
  /** As it is; no memory is returned to the operating system for the measurement. */
  readonly rssMib: number | null;
}

/** As reported by the process itself. */
interface Probed {
  /** After a collection. */
  readonly heapMib: number;
  /** Timers alive, unreferenced ones included. */
  readonly timers: number;
}

export type Resting = AtRest & Probed;

const concurrency = 64;
const settleMs = 3_000;
/** Until the work that so many new threads leave behind (collections, checkpoints) is done: idle means idle. */
const restMs = 20_000;
const hourSeconds = 3_600;

export async function measureSleepers(rig: Rig, plan: SleepersPlan): Promise<SleepersResult> {
  const nothing = await restOfNothing(rig, Math.min(plan.seconds, 10));
  const running = await startDormouse({ tools: rig.tools, directory: rig.room('sleepers'), probe: 'timers' });
  try {
    await sleep(settleMs);
    const idle = { ...nothing, ...(await probed(running)) };
    const began = performance.now();
    const firstHalf = Math.ceil(plan.threads / 2);
    await putToSleep(rig, running, firstHalf);
    await sleep(settleMs);
    const halfWay = (await askProbe(running)).timersAlive;
    await putToSleep(rig, running, plan.threads - firstHalf);
    const createdPerSecond = (plan.threads * 1_000) / (performance.now() - began - settleMs);
    rig.say(`${plan.threads} threads asleep, ${createdPerSecond.toFixed(0)} per second`);
    await sleep(restMs);
    const asleep = { ...(await rest(running, plan.seconds)), ...(await probed(running)) };
    const timersPerThread = Math.max(
      0,
      Math.round(((asleep.timers - halfWay) * 100) / (plan.threads - firstHalf)) / 100,
    );
    return { threads: plan.threads, watchedSeconds: plan.seconds, createdPerSecond, idle, asleep, timersPerThread };
  } finally {
    await running.stop();
  }
}

async function putToSleep(rig: Rig, running: RunningDormouse, count: number): Promise<void> {
  const heldBefore = (await rig.toolCounts()).held;
  const body = JSON.stringify({ agent: 'sleeper', message: { text: 'Hold this: "{token}"' } });
  const lanes = Math.min(concurrency, count);
  const targets = Array.from({ length: lanes }, (_, lane) => ({
    url: `${running.url}/v1/threads`,
    headers: running.headers,
    body,
    status: 201,
    expect: '"id"',
    turnsMax: Math.floor(count / lanes) + (lane < count % lanes ? 1 : 0),
  }));
  await rig.drive({ targets, warmupSeconds: 0, seconds: hourSeconds });
  for (let held = 0; held < count; held = (await rig.toolCounts()).held - heldBefore) await sleep(100);
}

/** (B33) */
async function restOfNothing(rig: Rig, seconds: number): Promise<AtRest> {
  const running = await startDormouse({ tools: rig.tools, directory: rig.room('nothing') });
  try {
    await sleep(settleMs);
    return await rest(running, seconds);
  } finally {
    await running.stop();
  }
}

/** (B14) */
async function rest(running: RunningDormouse, seconds: number): Promise<AtRest> {
  const before = figuresOf(running.pids);
  const began = performance.now();
  await sleep(seconds * 1_000);
  const after = figuresOf(running.pids);
  const elapsed = (performance.now() - began) / 1_000;
  return {
    cpuPercent: before && after ? ((after.cpuSeconds - before.cpuSeconds) * 100) / elapsed : null,
    rssMib: after?.rssMib ?? null,
  };
}

async function probed(running: RunningDormouse): Promise<Probed> {
  const { memory, timersAlive } = await askProbe(running);
  return { heapMib: memory.heapUsed / 1_048_576, timers: timersAlive };
}

const askProbe = async (running: RunningDormouse): Promise<ProbeAnswer> =>
  (await running.process.ask({ ask: 'probe' })) as ProbeAnswer;
