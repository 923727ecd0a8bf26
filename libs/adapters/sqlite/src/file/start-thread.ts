// Starts a thread of this adapter from its own file, compiled or not.
import { type MessagePort, Worker } from 'node:worker_threads';

/** `transferList`: ports in `workerData` that are moved to the thread. */
export function startThread(
  name: 'writer' | 'checkpoint' | 'copy',
  workerData: object,
  transferList: MessagePort[] = [],
): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const url = new URL(`../${name}/${name}-thread.${extension}`, import.meta.url);
  return new Worker(url, { workerData, transferList, name: `dormouse-${name}` });
}
