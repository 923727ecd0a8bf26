// Scenario *one-tool turns*: message → completion → tool over HTTP → callback → completion → answer, in a closed loop.
//
// Invariants:
//   B11. Contestants alternate inside every round, in changing order (B35); a waiting one is stopped (SIGSTOP), so that
//        it costs the others nothing.
//   B12. Before the first round every contestant works for a while at the widest, so that its code is compiled; every
//        measurement has new threads and a warm-up of its own. A ratio compares figures of one round.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant, Running } from './contestant.ts';
import { figuresOf } from './process-figures.ts';
import { roundOrder } from './round-order.ts';
import type { Rig } from './bench-rig.ts';
import { type Summary, summaryOf } from './statistics.ts';

export interface TurnsPlan {
  readonly rounds: number;
  readonly seconds: number;
  /** Before each measurement, and once before the first round. */
  readonly warmupSeconds: number;
  readonly firstWarmupSeconds: number;
  readonly threads: readonly number[];
}

export interface TurnsMeasurement extends Summary {
  readonly contestant: string;
  readonly round: number;
  readonly threads: number;
  readonly turnsPerSecond: number;
  /** CPU time of all processes of the contestant per turn, those of the warm-up included; null where it is unknown. */
  readonly cpuMsPerTurn: number | null;
}

const settleMs = 300;

export async function measureTurns(
  rig: Rig,
  contestants: readonly Contestant[],
  plan: TurnsPlan,
): Promise<readonly TurnsMeasurement[]> {
  const all: Running[] = [];
  const measured: TurnsMeasurement[] = [];
  try {
    for (const contestant of contestants) {
      const running = await contestant.start({ tools: rig.tools, directory: rig.room(contestant.name) });
      all.push(running);
      const targets = await running.openThreads(Math.max(...plan.threads));
      await rig.drive({ targets, warmupSeconds: plan.firstWarmupSeconds, seconds: 0 });
      pause(running, true);
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const [width, threads] of plan.threads.entries()) {
        for (const next of roundOrder(round + width, all.length)) {
          const running = all[next];
          if (running) measured.push(await measureOne(rig, running, plan, round, threads));
        }
      }
    }
  } finally {
    for (const running of all) {
      pause(running, false);
      await running.stop();
    }
  }
  return measured;
}

async function measureOne(
  rig: Rig,
  running: Running,
  plan: TurnsPlan,
  round: number,
  threads: number,
): Promise<TurnsMeasurement> {
  const { seconds, warmupSeconds } = plan;
  pause(running, false); // (B11)
  await sleep(settleMs);
  const targets = await running.openThreads(threads);
  const before = figuresOf(running.pids);
  const { latenciesMs, turns, seconds: measuredSeconds } = await rig.drive({ targets, seconds, warmupSeconds });
  const after = figuresOf(running.pids);
  pause(running, true);
  const turnsPerSecond = latenciesMs.length / measuredSeconds;
  const cpuMsPerTurn = before && after ? ((after.cpuSeconds - before.cpuSeconds) * 1_000) / turns : null;
  const result = { contestant: running.name, round, threads, turnsPerSecond, cpuMsPerTurn, ...summaryOf(latenciesMs) };
  const { p50, p99 } = result;
  rig.say(
    `round ${round + 1}  ${String(threads).padStart(2)} threads  ${running.name.padEnd(16)} ${turnsPerSecond.toFixed(0).padStart(6)} turns/s  p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`,
  );
  return result;
}

function pause(running: Running, paused: boolean): void {
  for (const pid of running.pids) process.kill(pid, paused ? 'SIGSTOP' : 'SIGCONT');
}
