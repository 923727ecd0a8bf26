// The clients of one tenant in a thread of their own: those of another are never late because of them.
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type Loaded, type LoadOptions, type LoadResult, openLoop } from './open-loop.ts';

interface Order {
  readonly tenant: Loaded;
  readonly options: LoadOptions;
}

export function inOwnThread(tenant: Loaded, options: LoadOptions): Promise<LoadResult> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { tenant, options } satisfies Order });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

if (parentPort !== null) {
  const { tenant, options } = workerData as Order;
  parentPort.postMessage(await openLoop(tenant, options));
}
