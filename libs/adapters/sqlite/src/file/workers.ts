// Starts a worker thread of this adapter from a file of its own.
import { type MessagePort, Worker } from 'node:worker_threads';

/** `transferList`: ports in `workerData` that are moved to the worker. */
export function startWorker(
  name: 'writer' | 'checkpoint' | 'copy',
  workerData: object,
  transferList: MessagePort[] = [],
): Worker {
  // The sources have a folder per worker, the build has the workers beside index.js (tools/bundle.mjs B2).
  const file = import.meta.url.endsWith('.ts') ? `../${name}/${name}-worker.ts` : `./${name}-worker.js`;
  return new Worker(new URL(file, import.meta.url), { workerData, transferList, name: `dormouse-${name}` });
}
