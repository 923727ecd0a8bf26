// Requests /healthz again and again, from a worker thread, so that this process's own work does not count.
import { Worker } from 'node:worker_threads';

export interface HealthProbe {
  /** Ends it. @returns milliseconds that 99 of 100 answers took at most; Infinity when one was no 200. */
  p99(): Promise<number>;
}

/** Under attack, on a machine that may run other tests too; the system's own share is measured by the loop's delay. */
export const answersWithinMs = 1_000;

const source = `
  const { parentPort, workerData } = require('node:worker_threads');
  let running = true;
  parentPort.once('message', () => { running = false; });
  void (async () => {
    const took = [];
    await fetch(workerData + '/healthz').then((answer) => answer.arrayBuffer(), () => undefined); // opens the connection
    while (running || took.length < 50) {
      const began = performance.now();
      const ok = await fetch(workerData + '/healthz').then((answer) => answer.arrayBuffer().then(() => answer.status === 200), () => false);
      took.push(ok ? performance.now() - began : Infinity);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    took.sort((left, right) => left - right);
    parentPort.postMessage(took[Math.ceil(took.length * 0.99) - 1]);
  })();
`;

export function probeHealth(url: string): HealthProbe {
  const worker = new Worker(source, { eval: true, workerData: url });
  return {
    async p99() {
      const answer = new Promise<number>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      worker.postMessage('end');
      const took = await answer;
      await worker.terminate();
      return took;
    },
  };
}
