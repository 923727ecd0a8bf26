// A range of seeds over at most two worker threads, and their combined results.
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Violation } from '../invariants/history.ts';
import { judgeSeed } from './judge-seed.ts';
import { mutants } from './mutants.ts';
import { rarePaths } from './rare-paths.ts';
import { type Topology, topologyOf } from './world/topology.ts';

export interface RangeOrder {
  readonly from: number;
  readonly seeds: number;
  /** Null: in the fixed rhythm. */
  readonly topology: Topology | null;
  /** Name of a mutant, or null for the product itself. */
  readonly mutant: string | null;
  /** Every so many seeds one is run twice. */
  readonly twiceEvery: number;
}

export interface FailedSeed {
  readonly seed: number;
  readonly topology: Topology;
  readonly violations: readonly Violation[];
}

export interface RangeReport {
  readonly seeds: Readonly<Record<Topology, number>>;
  readonly commits: number;
  readonly steps: number;
  readonly runTwice: number;
  readonly failed: readonly FailedSeed[];
  readonly counters: Readonly<Record<Topology, Readonly<Record<string, number>>>>;
  /** Paths that no seed took; only reported for enough seeds of a topology. */
  readonly neverTaken: Readonly<Record<Topology, readonly string[]>>;
}

const seedsPerOrder = 20;
/** Below this a path that was not taken says nothing. */
const seedsForZeros = 300;
const workersMax = 2;

export async function runRange(order: RangeOrder): Promise<RangeReport> {
  const report = emptyReport();
  const orders: RangeOrder[] = [];
  for (let from = order.from; from < order.from + order.seeds; from += seedsPerOrder)
    orders.push({ ...order, from, seeds: Math.min(seedsPerOrder, order.from + order.seeds - from) });
  await Promise.all(
    Array.from({ length: Math.min(workersMax, orders.length) }, () => workOff(orders, (part) => add(report, part))),
  );
  report.failed.sort((left, right) => left.seed - right.seed);
  return { ...report, neverTaken: { durable: zeros(report, 'durable'), standalone: zeros(report, 'standalone') } };
}

/** One worker takes seeds until there are none. */
function workOff(orders: RangeOrder[], done: (part: Part) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 96 } });
    const next = (): void => {
      const order = orders.shift();
      if (order === undefined) void worker.terminate().then(() => resolve());
      else worker.postMessage(order);
    };
    worker.on('message', (part: Part) => {
      done(part);
      next();
    });
    worker.on('error', reject);
    next();
  });
}

interface Part {
  readonly results: readonly (FailedSeed & {
    readonly commits: number;
    readonly steps: number;
    readonly twice: boolean;
    readonly counters: ReadonlyMap<string, number>;
  })[];
}

/** In this thread, one seed after the other. */
export async function runPart(order: RangeOrder): Promise<Part> {
  const mutant = order.mutant === null ? undefined : mutants[order.mutant];
  if (order.mutant !== null && mutant === undefined) throw new RangeError(`there is no mutant ${order.mutant}`);
  const results: Part['results'][number][] = [];
  for (let seed = order.from; seed < order.from + order.seeds; seed += 1) {
    const topology = order.topology ?? mutant?.topology ?? topologyOf(seed);
    const twice = seed % order.twiceEvery === 0;
    const { violations, commits, steps, counters } = await judgeSeed({
      seed,
      topology,
      twice,
      ...(mutant === undefined ? {} : { mutant }),
    });
    results.push({ seed, topology, violations, commits, steps, twice, counters });
  }
  return { results };
}

interface Growing {
  readonly seeds: Record<Topology, number>;
  commits: number;
  steps: number;
  runTwice: number;
  readonly failed: FailedSeed[];
  readonly counters: Record<Topology, Record<string, number>>;
}

const emptyReport = (): Growing => ({
  seeds: { durable: 0, standalone: 0 },
  commits: 0,
  steps: 0,
  runTwice: 0,
  failed: [],
  counters: { durable: {}, standalone: {} },
});

function add(report: Growing, { results }: Part): void {
  for (const { seed, topology, violations, commits, steps, twice, counters } of results) {
    report.seeds[topology] += 1;
    report.commits += commits;
    report.steps += steps;
    report.runTwice += twice ? 1 : 0;
    if (violations.length > 0) report.failed.push({ seed, topology, violations });
    const totals = report.counters[topology];
    for (const [path, times] of counters) totals[path] = (totals[path] ?? 0) + times;
  }
}

const zeros = (report: Growing, topology: Topology): readonly string[] =>
  report.seeds[topology] < seedsForZeros
    ? []
    : rarePaths[topology].filter((path) => (report.counters[topology][path] ?? 0) === 0);

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  Error.stackTraceLimit = 0; // faults are frequent here, and their stacks are never read
  port.on('message', (order: RangeOrder) => void runPart(order).then((part) => port.postMessage(part)));
}
