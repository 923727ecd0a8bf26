// How much of everything a workload needs, from figures that were measured. Pure.
//
// Invariants:
//   B45. Every constant is a figure of a file in bench/results, or is set by an operator (`Deployment`).
//   B46. A core is one of the machine of the figures; a turn is a one-tool turn. Other workloads multiply.

/** What one command measured, and where it is. */
export interface Figures {
  /** latest.json, 64 threads. */
  readonly standaloneCpuMsPerTurn: number;
  /** cluster.json, 64 threads: the five services together, without Kafka, MongoDB and Redis. */
  readonly clusterCpuMsPerTurn: number;
  /** latest.json, `counts`. */
  readonly commitsPerTurn: number;
  /** latest.json, `sleepers`: the process with no thread, and what it has grown to when very many sleep. It grows with
   * the caches, which are bounded, not with the threads: at a fifth of the threads it was nine tenths of that. */
  readonly idleRssMib: number;
  readonly fullRssMib: number;
  /** bytes.json: one copy. */
  readonly kafkaBytesPerTurn: number;
  readonly mongoBytesPerTurn: number;
  readonly mongoBytesPerSleeper: number;
  readonly mongoDocumentsPerTurn: number;
  readonly mongoDocumentsPerSleeper: number;
  readonly logBytesPerTurn: number;
  readonly sqliteBytesPerTurn: number;
  readonly sqliteBytesPerSleeper: number;
  readonly redisBytesPerOpenCall: number;
  /** Marks of callbacks, which Redis keeps for a day. */
  readonly redisBytesPerTurn: number;
  /** Of one process of each service. */
  readonly connectionsPerService: Readonly<Record<'kafka' | 'mongo' | 'redis', number>>;
}

export interface Workload {
  /** One-tool turns, mean over the busy hours. */
  readonly turnsPerSecond: number;
  /** Threads that are kept, and the turns that each has had. */
  readonly threads: number;
  readonly turnsEach: number;
  /** Of them, those that wait for a tool now. */
  readonly openCalls: number;
}

/** What an operator chooses. */
export interface Deployment {
  readonly partitions: number;
  readonly kafkaCopies: number;
  readonly kafkaDaysKept: number;
  readonly mongoCopies: number;
  /** Share of a core that is used on average, so that bursts have room. */
  readonly utilisation: number;
}

export interface Capacity {
  /** Of the five services. */
  readonly cores: number;
  readonly turnsPerCore: number;
  readonly turnsPerPartitionAndSecond: number;
  readonly commitsPerSecond: number;
  readonly kafkaBytesPerSecond: number;
  readonly kafkaBytesKept: number;
  /** Without indexes and compression. */
  readonly mongoBytesPerSecond: number;
  readonly mongoBytesKept: number;
  readonly mongoDocuments: number;
  /** The log alone; the rest are rows, claims, snapshots and usage. */
  readonly logBytesPerShard: number;
  /** With all marks of a day: a Redis that evicts (allkeys-lru) does with less. */
  readonly redisBytes: number;
}

const secondsPerDay = 86_400;

export function capacityOf(figures: Figures, workload: Workload, deployment: Deployment): Capacity {
  const { turnsPerSecond, threads, turnsEach, openCalls } = workload;
  const { partitions, kafkaCopies, kafkaDaysKept, mongoCopies, utilisation } = deployment;
  const turnsPerCore = (1_000 / figures.clusterCpuMsPerTurn) * utilisation;
  const kafkaBytesPerSecond = turnsPerSecond * figures.kafkaBytesPerTurn * kafkaCopies;
  const bytesPerThread = figures.mongoBytesPerSleeper + turnsEach * figures.mongoBytesPerTurn;
  const documentsPerThread = figures.mongoDocumentsPerSleeper + turnsEach * figures.mongoDocumentsPerTurn;
  return {
    cores: turnsPerSecond / turnsPerCore,
    turnsPerCore,
    turnsPerPartitionAndSecond: turnsPerSecond / partitions,
    commitsPerSecond: turnsPerSecond * figures.commitsPerTurn,
    kafkaBytesPerSecond,
    kafkaBytesKept: kafkaBytesPerSecond * kafkaDaysKept * secondsPerDay,
    mongoBytesPerSecond: turnsPerSecond * figures.mongoBytesPerTurn * mongoCopies,
    mongoBytesKept: threads * bytesPerThread * mongoCopies,
    mongoDocuments: threads * documentsPerThread,
    logBytesPerShard: (threads * turnsEach * figures.logBytesPerTurn) / partitions,
    redisBytes: openCalls * figures.redisBytesPerOpenCall + turnsPerSecond * secondsPerDay * figures.redisBytesPerTurn,
  };
}

/** Of one process with its file; `threads` sleep, each after `turnsEach` turns. */
export function standaloneOf(figures: Figures, { threads, turnsEach }: Pick<Workload, 'threads' | 'turnsEach'>) {
  const bytesPerThread = figures.sqliteBytesPerSleeper + turnsEach * figures.sqliteBytesPerTurn;
  return {
    turnsPerCore: 1_000 / figures.standaloneCpuMsPerTurn,
    rssMib: figures.fullRssMib,
    fileBytes: threads * bytesPerThread,
    threadsPerGib: 1_073_741_824 / bytesPerThread,
  };
}

/** Turns per second of a machine that also runs the clients and the tools. */
export const turnsOnSharedCores = (cores: number, cpuMsPerTurn: number, otherCpuMsPerTurn: number): number =>
  (cores * 1_000) / (cpuMsPerTurn + otherCpuMsPerTurn);
