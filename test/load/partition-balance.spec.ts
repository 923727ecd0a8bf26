// The simulation behind the tables of docs/guides/sizing.md: the product's partitioner over drawn populations.
import { createPartitioner } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import {
  balanceOf,
  type Distribution,
  distributions,
  movedShare,
  population,
} from '../../bench/sizing/partition-balance.ts';

const names = Object.keys(distributions) as readonly Distribution[];
const families = 20_000;

describe('a population', () => {
  it.each(names)('of %s is the same for the same seed, and another for another one', (name) => {
    expect(population(name, 500, 7)).toEqual(population(name, 500, 7));
    expect(population(name, 500, 7)).not.toEqual(population(name, 500, 8));
  });

  it('with a hot tenant has nine threads in ten in it, and with Zipf tenants most in the first', () => {
    const shareOf = (name: Distribution, tenant: string): number =>
      population(name, families, 1).filter((thread) => thread.tenant === tenant).length / families;
    expect(shareOf('one hot tenant', 'hot')).toBeCloseTo(0.9, 1);
    expect(shareOf('Zipf tenants', 'tenant-1')).toBeCloseTo(1 / 7.49, 2); // 1 / (1 + 1/2 + … + 1/1000)
    expect(shareOf('Zipf tenants', 'tenant-2')).toBeCloseTo(1 / 14.97, 2);
  });
});

describe('the balance', () => {
  it('counts the turns of each partition', () => {
    const threads = population('uniform families', 1_000, 3);
    const partitionOf = createPartitioner(4);
    const counts = [0, 1, 2, 3].map(
      (partition) => threads.filter((thread) => partitionOf(thread) === partition).length,
    );
    const { maxBesideMean, hottestShare } = balanceOf(threads, 4);
    expect(maxBesideMean).toBeCloseTo(Math.max(...counts) / 250, 9);
    expect(hottestShare).toBeCloseTo(Math.max(...counts) / 1_000, 9);
  });

  it.each(names.filter((name) => name !== 'Zipf turns'))('of %s over 12 partitions is even', (name) => {
    expect(balanceOf(population(name, families, 1), 12).maxBesideMean).toBeLessThan(1.1);
  });

  it('of turns that few threads have is as uneven as these: a thread is in one partition', () => {
    const { hottestShare, busiestThreadShare } = balanceOf(population('Zipf turns', families, 1), 1_024);
    expect(busiestThreadShare).toBeGreaterThan(50 / 1_024);
    expect(hottestShare).toBeGreaterThanOrEqual(busiestThreadShare);
  });

  it('shows a partitioner that puts every thread of a tenant into one partition', () => {
    const threads = population('one hot tenant', families, 1).map((thread) => ({ ...thread, thread: 'same' }));
    expect(balanceOf(threads, 12).maxBesideMean).toBeGreaterThan(10);
  });
});

describe('a change of the number of partitions', () => {
  const threads = population('uniform families', families, 1);

  it('moves half of the threads when it is doubled, nearly all when it is raised by one', () => {
    expect(movedShare(threads, 12, 24)).toBeCloseTo(0.5, 1);
    expect(movedShare(threads, 12, 13)).toBeCloseTo(12 / 13, 1);
    expect(movedShare(threads, 12, 12)).toBe(0);
  });

  it('by a factor leaves threads together that are in one partition of the larger number', () => {
    const [few, many] = [createPartitioner(12), createPartitioner(48)];
    for (const thread of threads) expect(many(thread) % 12).toBe(few(thread));
  });
});
