// How evenly the product's partitioner spreads threads, and what moves when the number of partitions changes. Pure: the
// population is drawn by a seed.
//
// Invariants:
//   B41. The partitioner is the product's own function, called with the keys that the product hashes.
//   B42. A thread of a family is a thread of its own: parents and children are hashed alone, as in the product.
import { createPartitioner, type ThreadKey, tenantId } from '@dormouse/ports';

const acme = tenantId('acme');

export interface Keyed extends ThreadKey {
  /** Turns of the thread in the time that is looked at. */
  readonly turns: number;
}

export const distributions = {
  'uniform families': uniformFamilies,
  'Zipf tenants': zipfTenants,
  'one hot tenant': oneHotTenant,
  'families with 50 children': familiesWithChildren,
  'Zipf turns': zipfTurns,
} as const;
export type Distribution = keyof typeof distributions;

export interface Balance {
  readonly threads: number;
  readonly partitions: number;
  /** Turns of the fullest partition beside the mean. */
  readonly maxBesideMean: number;
  /** Its share of all turns, and what it would be if all were equal. */
  readonly hottestShare: number;
  readonly fairShare: number;
  /** Share of the turns of the busiest thread: no number of partitions goes below it. */
  readonly busiestThreadShare: number;
}

/** Threads of `families` families, drawn by the seed. */
export function population(distribution: Distribution, families: number, seed: number): readonly Keyed[] {
  return distributions[distribution](families, drawing(seed));
}

/** (B41) */
export function balanceOf(threads: readonly Keyed[], partitions: number): Balance {
  const partitionOf = createPartitioner(partitions);
  const turns = new Float64Array(partitions);
  let [all, busiest] = [0, 0];
  for (const thread of threads) {
    const partition = partitionOf(thread);
    turns[partition] = (turns[partition] ?? 0) + thread.turns;
    all += thread.turns;
    busiest = Math.max(busiest, thread.turns);
  }
  const hottest = turns.reduce((most, each) => Math.max(most, each), 0);
  return {
    threads: threads.length,
    partitions,
    maxBesideMean: hottest / (all / partitions),
    hottestShare: hottest / all,
    fairShare: 1 / partitions,
    busiestThreadShare: busiest / all,
  };
}

/** Share of the threads whose partition is another one with the other number of partitions. */
export function movedShare(threads: readonly ThreadKey[], from: number, to: number): number {
  const [before, after] = [createPartitioner(from), createPartitioner(to)];
  const moved = threads.reduce((count, thread) => count + (before(thread) === after(thread) ? 0 : 1), 0);
  return moved / threads.length;
}

type Draw = () => number;

/** Numbers from 0 to 1. (mulberry32) */
function drawing(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const timeCharacters = 10;
const randomCharacters = 16;
const firstMs = 1_790_000_000_000;
const everyMs = 7;

/** As the product names threads: ten characters of time, sixteen of randomness. */
function threadId(nth: number, draw: Draw): string {
  let time = '';
  for (let at = timeCharacters, left = firstMs + nth * everyMs; at > 0; at -= 1, left = Math.floor(left / 32))
    time = alphabet.charAt(left % 32) + time;
  let random = '';
  for (let at = 0; at < randomCharacters; at += 1) random += alphabet.charAt(Math.floor(draw() * 32));
  return `thr_${time}${random}`;
}

const listOf = (count: number, each: (nth: number) => Keyed): readonly Keyed[] =>
  Array.from({ length: count }, (_, nth) => each(nth));

function uniformFamilies(families: number, draw: Draw): readonly Keyed[] {
  return listOf(families, (nth) => ({ tenant: acme, thread: threadId(nth, draw), turns: 1 }));
}

const tenants = 1_000;

/** The nth of 1 000 tenants has about 1/nth of the families of the first. */
function zipfTenants(families: number, draw: Draw): readonly Keyed[] {
  const tenantOf = zipf(tenants, draw);
  return listOf(families, (nth) => ({
    tenant: tenantId(`tenant-${tenantOf()}`),
    thread: threadId(nth, draw),
    turns: 1,
  }));
}

const hotShare = 0.9;

function oneHotTenant(families: number, draw: Draw): readonly Keyed[] {
  return listOf(families, (nth) => ({
    tenant: draw() < hotShare ? tenantId('hot') : tenantId(`tenant-${Math.floor(draw() * tenants)}`),
    thread: threadId(nth, draw),
    turns: 1,
  }));
}

const childrenEach = 50;

/** One family in a hundred has children; a child has as many turns as its parent. (B42) */
function familiesWithChildren(families: number, draw: Draw): readonly Keyed[] {
  const sizes = Array.from({ length: families }, (_, nth) => (nth % 100 === 0 ? 1 + childrenEach : 1));
  return sizes.flatMap((size, family) =>
    listOf(size, () => ({ tenant: acme, thread: threadId(family, draw), turns: 1 })),
  );
}

/** The nth busiest thread has 1/nth of the turns of the busiest. */
function zipfTurns(families: number, draw: Draw): readonly Keyed[] {
  return listOf(families, (nth) => ({ tenant: acme, thread: threadId(nth, draw), turns: 1 / (nth + 1) }));
}

/** Draws 1..count, the nth with a weight of 1/nth. */
function zipf(count: number, draw: Draw): () => number {
  const sums = new Float64Array(count);
  for (let nth = 0, sum = 0; nth < count; nth += 1) sums[nth] = sum += 1 / (nth + 1);
  const all = sums[count - 1] ?? 0;
  return () => {
    const wanted = draw() * all;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
