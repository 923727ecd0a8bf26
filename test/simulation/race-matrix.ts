// All orders of all nine of the race matrix, through the real services, over as many threads as there are processors.
//
//   node --conditions=dormouse-source test/simulation/race-matrix.ts [--topology durable|standalone] [--pause MS]
//   [--orders N] [--from K]
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { faultsOf, matrix, orderAt } from './race-orders.ts';
import { race } from './races.ts';

interface Share {
  readonly topology: 'standalone' | 'durable';
  /** Between two events, on the clock of the simulation; 0 leaves no time for an event that needs any. */
  readonly pauseMs: number;
  readonly from: number;
  readonly to: number;
}

interface Progress {
  readonly done: number;
  readonly bad: readonly string[];
}

const ordersInAll = matrix.reduce((product, _name, index) => product * (index + 1), 1);
const tellEvery = 100;

if (isMainThread) process.exitCode = await runAll();
else await runShare(workerData as Share);

async function runShare({ topology, pauseMs, from, to }: Share): Promise<void> {
  let done = 0;
  let bad: string[] = [];
  const tell = (): void => {
    parentPort?.postMessage({ done, bad } satisfies Progress);
    done = 0;
    bad = [];
  };
  for (let number = from; number < to; number++) {
    const order = orderAt(matrix, number);
    const faults = faultsOf(await race(order, topology, pauseMs), order);
    if (faults.length > 0) bad.push(`order ${number} (${order.join(', ')}): ${faults.join('; ')}`);
    if (++done === tellEvery) tell();
  }
  tell();
}

async function runAll(): Promise<number> {
  const { values } = parseArgs({
    options: {
      topology: { type: 'string', default: 'durable' },
      pause: { type: 'string', default: '0' },
      orders: { type: 'string', default: String(ordersInAll) },
      from: { type: 'string', default: '0' },
    },
  });
  const topology = values.topology === 'standalone' ? 'standalone' : 'durable';
  const pauseMs = Number(values.pause);
  const first = Number(values.from);
  const last = Math.min(ordersInAll, first + Number(values.orders));
  if (!(pauseMs >= 0 && first >= 0 && last >= first)) throw new RangeError('--pause, --orders, --from: numbers');
  const began = Date.now();
  let done = 0;
  let faults = 0;
  let told = began;
  const take = (progress: Progress): void => {
    done += progress.done;
    faults += progress.bad.length;
    for (const line of progress.bad) console.log(line);
    if (Date.now() - told < 30_000) return;
    told = Date.now();
    console.error(`${done} of ${last - first} orders, ${faults} with faults`);
  };
  const shares = availableParallelism();
  const cut = (nth: number): number => first + Math.floor(((last - first) * nth) / shares);
  await Promise.all(
    Array.from({ length: shares }, (_, nth) => {
      const share: Share = { topology, pauseMs, from: cut(nth), to: cut(nth + 1) };
      const worker = new Worker(new URL(import.meta.url), { workerData: share });
      return new Promise<void>((resolve, reject) => {
        worker
          .on('message', take)
          .on('error', reject)
          .on('exit', () => resolve());
      });
    }),
  );
  const seconds = ((Date.now() - began) / 1_000).toFixed(0);
  console.log(
    `${done} orders of ${matrix.length} happenings, ${topology}, ${pauseMs} ms between two: ${faults} with faults, ${seconds} s`,
  );
  return faults === 0 && done === last - first ? 0 : 1;
}
