// The figures of the capacity model, read from what the bench wrote: bench/results. (B45)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figures } from './capacity-model.ts';
import type { StoredBytes } from './measured-bytes.ts';

interface Turns {
  readonly contestant: string;
  readonly threads: number;
  readonly turnsPerSecond: number;
  readonly cpuMsPerTurn: number;
}

/** What the model takes of latest.json, cluster.json and observability.json. */
interface BenchFile {
  readonly turns: readonly Turns[] | null;
  readonly counts: { readonly plain: { readonly logCommits: number } } | null;
  readonly sleepers: {
    readonly idle: { readonly rssMib: number };
    readonly asleep: { readonly rssMib: number };
  } | null;
  readonly cluster: { readonly turns: readonly Turns[] } | null;
  readonly observability: { readonly turns: readonly Turns[] } | null;
}

const results = join(import.meta.dirname, '..', 'results');
const fileOf = <Content>(name: string): Content => JSON.parse(readFileSync(join(results, name), 'utf8')) as Content;

export const latest = fileOf<BenchFile>('latest.json');
export const cluster = fileOf<BenchFile>('cluster.json');
export const observability = fileOf<BenchFile>('observability.json');
export const bytes = fileOf<StoredBytes>('bytes.json');

const sum = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((all, value) => all + value, 0);

/** Of the rounds of one contestant. */
export function medianOf(
  turns: readonly Turns[] | undefined | null,
  contestant: string,
  threads: number,
  figure: 'turnsPerSecond' | 'cpuMsPerTurn',
): number {
  const values = (turns ?? [])
    .filter((round) => round.contestant === contestant && round.threads === threads)
    .map((round) => round[figure])
    .toSorted((one, other) => one - other);
  const middle = values.length / 2;
  return ((values[Math.ceil(middle) - 1] ?? Number.NaN) + (values[Math.floor(middle)] ?? Number.NaN)) / 2;
}

export function measuredFigures(): Figures {
  const { sleepers, counts } = latest;
  if (sleepers === null || counts === null) throw new Error('latest.json is not of a full run');
  const { idle, asleep } = sleepers;
  return {
    standaloneCpuMsPerTurn: medianOf(latest.turns, 'dormouse', 64, 'cpuMsPerTurn'),
    clusterCpuMsPerTurn: medianOf(cluster.cluster?.turns, 'dormouse', 64, 'cpuMsPerTurn'),
    commitsPerTurn: counts.plain.logCommits,
    idleRssMib: idle.rssMib,
    fullRssMib: asleep.rssMib,
    kafkaBytesPerTurn: sum(bytes.kafkaBytesPerTurn),
    mongoBytesPerTurn: sum(bytes.mongoBytesPerTurn),
    mongoBytesPerSleeper: sum(bytes.mongoBytesPerSleeper),
    mongoDocumentsPerTurn: sum(bytes.mongoDocumentsPerTurn),
    mongoDocumentsPerSleeper: sum(bytes.mongoDocumentsPerSleeper),
    logBytesPerTurn: bytes.mongoBytesPerTurn['commits'] ?? 0,
    sqliteBytesPerTurn: bytes.sqlite.bytesPerTurn,
    sqliteBytesPerSleeper: bytes.sqlite.bytesPerSleeper,
    redisBytesPerOpenCall: bytes.redisBytesPerOpenCall,
    redisBytesPerTurn: bytes.redisBytesPerTurn,
    connectionsPerService: {
      kafka: bytes.connections.kafka / services,
      mongo: bytes.connections.mongo / services,
      redis: bytes.connections.redis / services,
    },
  };
}

const services = 5;
