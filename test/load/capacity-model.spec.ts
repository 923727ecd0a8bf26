// The capacity model beside what the bench measured, and beside the tables of docs/guides/sizing.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  capacityOf,
  type Deployment,
  type Figures,
  standaloneOf,
  turnsOnSharedCores,
  type Workload,
} from '../../bench/sizing/capacity-model.ts';
import { figureTable, planTable, standaloneTable } from '../../bench/sizing/capacity-tables.ts';
import { bytes, latest, measuredFigures, medianOf, observability } from '../../bench/sizing/figures.ts';

const plain: Figures = {
  ...{ standaloneCpuMsPerTurn: 0.5, clusterCpuMsPerTurn: 2, commitsPerTurn: 4, idleRssMib: 200, fullRssMib: 300 },
  ...{ kafkaBytesPerTurn: 1_000, mongoBytesPerTurn: 5_000, mongoBytesPerSleeper: 6_000, logBytesPerTurn: 4_000 },
  ...{ mongoDocumentsPerTurn: 5, mongoDocumentsPerSleeper: 6, sqliteBytesPerTurn: 4_096, sqliteBytesPerSleeper: 8_192 },
  ...{ redisBytesPerOpenCall: 100, redisBytesPerTurn: 2 },
  connectionsPerService: { kafka: 3, mongo: 8, redis: 2 },
};
const workload: Workload = { turnsPerSecond: 1_000, threads: 10_000, turnsEach: 3, openCalls: 50 };
const deployment: Deployment = { partitions: 10, kafkaCopies: 3, kafkaDaysKept: 2, mongoCopies: 2, utilisation: 0.5 };

describe('the model', () => {
  it('multiplies turns and threads by what each takes', () => {
    expect(capacityOf(plain, workload, deployment)).toEqual({
      ...{ cores: 4, turnsPerCore: 250, turnsPerPartitionAndSecond: 100, commitsPerSecond: 4_000 },
      ...{ kafkaBytesPerSecond: 3e6, kafkaBytesKept: 3e6 * 2 * 86_400 },
      ...{ mongoBytesPerSecond: 1e7, mongoBytesKept: 10_000 * (6_000 + 3 * 5_000) * 2 },
      ...{
        mongoDocuments: 10_000 * 21,
        logBytesPerShard: (10_000 * 3 * 4_000) / 10,
        redisBytes: 5_000 + 1_000 * 86_400 * 2,
      },
    });
  });

  it('of one process has the memory of its caches, and pages of its file', () => {
    const found = standaloneOf(plain, { threads: 1_024, turnsEach: 2 });
    expect(found).toEqual({ turnsPerCore: 2_000, rssMib: 300, fileBytes: 1_024 * 16_384, threadsPerGib: 65_536 });
  });
});

/** Client, driver and tool server: what the machine of the bench does for a turn besides the contestant. */
function besideContestant(): number {
  const turns = medianOf(latest.turns, 'tutorial-fetch', 64, 'turnsPerSecond');
  return 2_000 / turns - medianOf(latest.turns, 'tutorial-fetch', 64, 'cpuMsPerTurn');
}

describe('beside the bench, within 30 %', () => {
  const { standaloneCpuMsPerTurn, commitsPerTurn } = measuredFigures();
  const turns = (threads: number): number => medianOf(latest.turns, 'dormouse', threads, 'turnsPerSecond');
  const cpu = (threads: number): number => medianOf(latest.turns, 'dormouse', threads, 'cpuMsPerTurn');
  it.each([
    ['turns/s at 64 threads', turns(64), turnsOnSharedCores(2, standaloneCpuMsPerTurn, besideContestant())],
    ['turns/s at 8 threads', turns(8), turnsOnSharedCores(2, cpu(8), besideContestant())],
    [
      'turns/s at 64 threads in the run of the metrics',
      medianOf(observability.observability?.turns, 'metrics', 64, 'turnsPerSecond'),
      turnsOnSharedCores(2, standaloneCpuMsPerTurn, besideContestant()),
    ],
    ['commits in MongoDB of a turn', commitsPerTurn, bytes.mongoDocumentsPerTurn['commits'] ?? Number.NaN],
  ])('%s: measured %d', (_, measured, modelled) => {
    expect(modelled / measured).toBeGreaterThan(0.7);
    expect(modelled / measured).toBeLessThan(1.3);
  });
});

/** Without the spaces that align a table. */
const unaligned = (text: string): string => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

it('docs/guides/sizing.md has the tables that the model gives', () => {
  const page = unaligned(readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', 'sizing.md'), 'utf8'));
  const figures = measuredFigures();
  for (const table of [figureTable(figures), standaloneTable(figures), planTable(figures)])
    expect(page).toContain(unaligned(table));
});
