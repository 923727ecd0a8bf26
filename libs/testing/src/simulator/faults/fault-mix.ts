// The faults of a universe and their frequencies: every seed draws its own mix (swarm testing), because a run with all
// faults at once hides the rare interleavings, and a run with a single fault never meets the combinations.
import type { Random } from '../world/random.ts';

/** Probabilities per operation, unless the name says otherwise. */
export interface FaultMix {
  readonly crash: number;
  /** Death right after an append was applied and before its answer was seen. */
  readonly crashAfterAppend: number;
  readonly pause: number;
  readonly failBefore: number;
  readonly failAfter: number;
  /** The operation fails and is applied up to four seconds later. */
  readonly ghost: number;
  readonly publishTwice: number;
  readonly answerLost: number;
  /** Extra milliseconds of a store read, at most. */
  readonly slowReadMs: number;
  /** Per round of weather (about every 100 steps): */
  readonly cutOff: number;
  readonly rebalance: number;
  /** A partition gets another leader among the brokers. */
  readonly move: number;
  /** A group restarts the count of its generations. */
  readonly countAnew: number;
  /** A partition loses the tail of its log: only in directed searches, as this moves a committed offset back. */
  readonly tailLoss: number;
  /** An ordered stop and start. */
  readonly restart: number;
  readonly outage: number;
  readonly wipeSnapshots: number;
  readonly wipeDedup: number;
  /** A process's clock is set, forwards or back. */
  readonly clockJump: number;
  /** Milliseconds that a process's clock is off, at most. */
  readonly skewMs: number;
  /** Of an input, to be one that cannot be decided before the code is repaired. */
  readonly poison: number;
  /** Clients of one tenant beside those that every universe has, where two completions run at once. 0 for most. */
  readonly crowd: number;
  /** Above 0: an operator pauses agents and tool servers. */
  readonly pauses: number;
}

/** When faults stop. */
export const faultsEndMs = 9_000;

const strengths = [0, 0, 0.1, 0.3, 0.7, 1.2, 2];

export function drawFaults(random: Random, topology: 'durable' | 'standalone'): FaultMix {
  const some = (usual: number): number => usual * random.pick(strengths);
  const mix: FaultMix = {
    crash: some(0.004),
    crashAfterAppend: some(0.02),
    pause: some(0.003),
    failBefore: some(0.02),
    failAfter: some(0.03),
    ghost: some(0.015),
    publishTwice: some(0.12),
    answerLost: some(0.08),
    slowReadMs: random.chance(0.25) ? 40 + random.below(400) : 0,
    cutOff: some(0.12),
    rebalance: some(0.1),
    move: 0,
    countAnew: 0,
    tailLoss: 0,
    restart: some(0.06),
    outage: some(0.06),
    wipeSnapshots: some(0.15),
    wipeDedup: some(0.15),
    clockJump: some(0.03),
    skewMs: random.chance(0.3) ? random.below(400) : 0,
    poison: 0,
    crowd: 0,
    pauses: 0,
  };
  if (topology === 'standalone')
    return { ...mix, pause: 0, cutOff: 0, rebalance: 0, publishTwice: 0, skewMs: 0, crash: Math.max(mix.crash, 0.001) };
  // Long zombies that die at the worst moment find what nothing else finds (H1, H2, H5, H7).
  if (random.chance(0.35)) return { ...mix, cutOff: 0.4, crashAfterAppend: 0.08, crash: 0, rebalance: 0 };
  return mix;
}

/** Most installations have none. */
export const drawPoison = (random: Random): number => (random.chance(0.2) ? 0.01 + 0.07 * random.fraction() : 0);

/** Of one universe in twenty. */
export const drawCrowd = (random: Random): number => (random.chance(0.05) ? 6 + random.below(7) : 0);

/** Most installations have none. */
export const drawPauses = (random: Random): number => (random.chance(0.15) ? 1 : 0);

/** Of the brokers. */
export const drawBrokerFaults = (random: Random): Pick<FaultMix, 'move' | 'countAnew'> => ({
  move: 0.25 * random.pick(strengths),
  countAnew: 0.03 * random.pick(strengths),
});

/** After the faults: only concurrency remains. */
export const noFaults: FaultMix = {
  crash: 0,
  crashAfterAppend: 0,
  pause: 0,
  failBefore: 0,
  failAfter: 0,
  ghost: 0,
  publishTwice: 0,
  answerLost: 0,
  slowReadMs: 0,
  cutOff: 0,
  rebalance: 0,
  move: 0,
  countAnew: 0,
  tailLoss: 0,
  restart: 0,
  outage: 0,
  wipeSnapshots: 0,
  wipeDedup: 0,
  clockJump: 0,
  skewMs: 0,
  poison: 0,
  crowd: 0,
  pauses: 0,
};
