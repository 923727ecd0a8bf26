// Loaded into every process of a system under attack (`node --import`): measures how long its event loop is blocked by
// its own work, and answers on a socket of its own, a file named after the process. A port would not do: when the
// process has ended, another one may get it, and answer in its place.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { LoopDelay } from './loop-delay.ts';
import { type Hold, heldMs, type Stretch } from './loop-holds.ts';

const everyMs = 5;
const directory = process.env['LOOP_DELAY_DIRECTORY'];

if (isMainThread && directory !== undefined) watch(directory);

/**
 * A timer that comes late was delayed by this process for as long as the thread computed in the meantime; the rest of
 * the delay is the machine's, which had other things to run.
 */
function watch(directory: string): void {
  let holds: Hold[] = [];
  let collections: Stretch[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      collections.push({ from: startTime, to: startTime + duration });
  });
  observer.observe({ entryTypes: ['gc'] });
  let before = { at: performance.now(), computing: computingMs() };
  setInterval(() => {
    const now = { at: performance.now(), computing: computingMs() };
    const ms = Math.min(now.at - before.at - everyMs, now.computing - before.computing);
    if (ms > everyMs) holds.push({ from: before.at, to: now.at, ms });
    before = now;
  }, everyMs).unref();
  /** The measurements since the last request. A collection is reported a tick or two after it. */
  const server = createServer((_request, response) => {
    setTimeout(() => {
      const longestMs = Math.max(0, ...holds.map((hold) => heldMs(hold, collections)));
      response.end(JSON.stringify({ longestMs } satisfies LoopDelay));
      [holds, collections] = [[], []];
    }, 2 * everyMs);
  });
  server.listen(join(directory, String(process.pid))).unref();
}

/** Processor time of this thread, in milliseconds. */
function computingMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
