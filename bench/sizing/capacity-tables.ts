// The tables of docs/guides/sizing.md that come from the capacity model. Pure: the figures are passed in.
import { capacityOf, type Deployment, type Figures, standaloneOf, type Workload } from './capacity-model.ts';

const kib = 1_024;
const rounded = (value: number): string =>
  value >= 1_000
    ? Math.round(value).toLocaleString('en-US').replaceAll(',', ' ')
    : value >= 100
      ? value.toFixed(0)
      : value.toPrecision(2).replace(/\.0$/, '');

function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let [value, unit] = [bytes, 0];
  for (; value >= kib && unit < units.length - 1; unit += 1) value /= kib;
  return `${rounded(value)} ${units[unit] ?? ''}`;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

export function figureTable(figures: Figures): string {
  const perService = figures.connectionsPerService;
  return table(
    ['figure', 'value', 'measured by'],
    [
      ['processor time of a turn, standalone', `${figures.standaloneCpuMsPerTurn.toFixed(2)} ms`, '`npm run bench`'],
      [
        'processor time of a turn, the five services together',
        `${figures.clusterCpuMsPerTurn.toFixed(2)} ms`,
        '`npm run bench -- --scenario cluster`',
      ],
      ['log commits of a turn', String(figures.commitsPerTurn), '`npm run bench`'],
      ['memory of the standalone process without threads', `${rounded(figures.idleRssMib)} MiB`, '`npm run bench`'],
      ['… and when 100 000 sleep', `${rounded(figures.fullRssMib)} MiB`, '`npm run bench`'],
      ['Kafka, bytes of a turn, one copy', size(figures.kafkaBytesPerTurn), '`npm run bench:bytes`'],
      ['MongoDB, BSON of a turn, one copy', size(figures.mongoBytesPerTurn), '`npm run bench:bytes`'],
      ['MongoDB, BSON of a new thread with an open call', size(figures.mongoBytesPerSleeper), '`npm run bench:bytes`'],
      ['SQLite, bytes of a turn, with indexes', size(figures.sqliteBytesPerTurn), '`npm run bench:bytes`'],
      ['SQLite, bytes of a new thread with an open call', size(figures.sqliteBytesPerSleeper), '`npm run bench:bytes`'],
      ['Redis, bytes of an open call', rounded(figures.redisBytesPerOpenCall), '`npm run bench:bytes`'],
      ['Redis, bytes of a turn, for a day', rounded(figures.redisBytesPerTurn), '`npm run bench:bytes`'],
      [
        'connections of a process to Kafka, MongoDB, Redis',
        [perService.kafka, perService.mongo, perService.redis].map(rounded).join(', '),
        '`npm run bench:bytes`',
      ],
    ],
  );
}

export function standaloneTable(figures: Figures): string {
  const of = (threads: number, turnsEach: number): readonly string[] => {
    const { fileBytes, threadsPerGib } = standaloneOf(figures, { threads, turnsEach });
    return [rounded(threads), String(turnsEach), size(fileBytes), rounded(threadsPerGib)];
  };
  return table(
    ['sleeping threads', 'turns of each', 'file', 'threads per GiB of file'],
    [of(10_000, 0), of(10_000, 10), of(100_000, 0), of(100_000, 10)],
  );
}

const small: Deployment = { partitions: 12, kafkaCopies: 3, kafkaDaysKept: 14, mongoCopies: 3, utilisation: 0.6 };
const large: Deployment = { ...small, partitions: 1_024 };
const secondsPerDay = 86_400;

/** What the columns of the plan are. */
export const plans: readonly { readonly name: string; readonly workload: Workload; readonly deployment: Deployment }[] =
  [
    {
      name: 'a hundred turns per second',
      workload: { turnsPerSecond: 100, threads: 1e6, turnsEach: 10, openCalls: 1_000 },
      deployment: small,
    },
    {
      name: '10⁸ threads, a turn a day, five times that at noon',
      workload: { turnsPerSecond: (5 * 1e8) / secondsPerDay, threads: 1e8, turnsEach: 10, openCalls: 1e6 },
      deployment: large,
    },
    {
      name: '10⁸ threads, 1 000 nodes of 4 cores, busy',
      workload: { turnsPerSecond: 987_000, threads: 1e8, turnsEach: 10, openCalls: 1e7 },
      deployment: large,
    },
  ];

export function planTable(figures: Figures): string {
  const found = plans.map(({ workload, deployment }) => capacityOf(figures, workload, deployment));
  const row = (name: string, cell: (capacity: (typeof found)[number]) => string): readonly string[] => [
    name,
    ...found.map(cell),
  ];
  return table(
    ['', ...plans.map(({ name }) => name)],
    [
      ['turns per second', ...plans.map(({ workload }) => rounded(workload.turnsPerSecond))],
      ['partitions and shards', ...plans.map(({ deployment }) => rounded(deployment.partitions))],
      row('cores of the five services', ({ cores }) => rounded(cores)),
      row('turns per second of a partition', (each) => rounded(each.turnsPerPartitionAndSecond)),
      row('commits per second', ({ commitsPerSecond }) => rounded(commitsPerSecond)),
      row('Kafka, written per second, 3 copies', (each) => size(each.kafkaBytesPerSecond)),
      row('Kafka, kept for 14 days', (each) => size(each.kafkaBytesKept)),
      row('MongoDB, written per second, 3 copies', (each) => size(each.mongoBytesPerSecond)),
      row('MongoDB, kept, 3 copies, without indexes', (each) => size(each.mongoBytesKept)),
      row('documents', ({ mongoDocuments }) => rounded(mongoDocuments)),
      row('Redis, if it keeps the marks of a whole day', ({ redisBytes }) => size(redisBytes)),
      row('log of one shard, one copy', ({ logBytesPerShard }) => size(logBytesPerShard)),
    ],
  );
}
