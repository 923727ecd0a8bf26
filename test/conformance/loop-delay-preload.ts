// Loaded into every process of a system under attack (`node --import`): measures how long its event loop is held up by its own
// work, and tells whoever asks on a socket of its own, a file named after the process. A port would not do: when the process
// has ended, somebody else may get it, and answers in its place.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const everyMs = 5;
const directory = process.env['LOOP_DELAY_DIRECTORY'];

if (isMainThread && directory !== undefined) watch(directory);

/**
 * A timer that comes late was held up by this process as long as the thread was computing in the meantime; the rest of the delay
 * is the machine's, which had other things to run.
 */
function watch(directory: string): void {
  const held = createHistogram();
  let before = { at: performance.now(), computing: computingMs() };
  setInterval(() => {
    const now = { at: performance.now(), computing: computingMs() };
    const lateMs = now.at - before.at - everyMs;
    held.record(1 + Math.round(1_000 * Math.max(0, Math.min(lateMs, now.computing - before.computing)))); // 0 is none
    before = now;
  }, everyMs).unref();
  /** What was measured since somebody last asked. */
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ p99: held.percentile(99) / 1_000, max: held.max / 1_000 }));
    held.reset();
  });
  server.listen(join(directory, String(process.pid))).unref();
}

/** Processor time of this thread, in milliseconds. */
function computingMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
