// Loaded into every process of a system under attack (`node --import`): measures how long its event loop is held up by its own
// work, and tells whoever asks on a socket of its own, a file named after the process. A port would not do: when the process
// has ended, somebody else may get it, and answers in its place.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import type { LoopDelay } from './loop-delay.ts';

const everyMs = 5;
const noHolds = { first: 0, second: 0, third: 0 };
const directory = process.env['LOOP_DELAY_DIRECTORY'];

if (isMainThread && directory !== undefined) watch(directory);

/**
 * A timer that comes late was held up by this process as long as the thread was computing in the meantime; the rest of the delay
 * is the machine's, which had other things to run.
 */
function watch(directory: string): void {
  const held = createHistogram();
  let longest = noHolds;
  let before = { at: performance.now(), computing: computingMs() };
  setInterval(() => {
    const now = { at: performance.now(), computing: computingMs() };
    const lateMs = now.at - before.at - everyMs;
    const heldMs = Math.max(0, Math.min(lateMs, now.computing - before.computing));
    held.record(1 + Math.round(1_000 * heldMs)); // 0 is none
    if (heldMs > longest.third) longest = longer(longest, heldMs);
    before = now;
  }, everyMs).unref();
  /** What was measured since somebody last asked. */
  const server = createServer((_request, response) => {
    const { first, second, third } = longest;
    const p99 = Math.min(held.percentile(99) / 1_000, third);
    response.end(JSON.stringify({ p99, first, second } satisfies LoopDelay));
    held.reset();
    longest = noHolds;
  });
  server.listen(join(directory, String(process.pid))).unref();
}

function longer({ first, second }: typeof noHolds, heldMs: number): typeof noHolds {
  if (heldMs > first) return { first: heldMs, second: first, third: second };
  return heldMs > second ? { first, second: heldMs, third: second } : { first, second, third: heldMs };
}

/** Processor time of this thread, in milliseconds. */
function computingMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
