// What a Node process shows of itself: the delay of its event loop, garbage collections, memory, free disk.
//
// Invariants:
//   N1. Reading shows a window: a delay is seen for at least `windowMs`, however many readers there are.
//   N2. The delay is measured from the first reading on: a process whose metrics are not read has no timer for them.
import type { Metrics } from '@dormouse/ports';
import { statfs } from 'node:fs/promises';
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/** The monitor's timer wakes the process: at 20 ms it takes 0.2 % of a core while every thread sleeps, here 0.04 %. */
const resolutionMs = 100;
const windowMs = 10_000;
const nanosecondsPerSecond = 1_000_000_000;

/** Measures until the returned function is called. `directory`: whose disk is looked at. */
export function measureProcess(metrics: Metrics, directory: string): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  let windowFrom = performance.now();
  let lastWindow = 0;
  metrics.gauge('dormouse_event_loop_delay_seconds', (report) => {
    delay.enable(); // (N2)
    const present = delay.count === 0 ? 0 : lateness(delay.percentile(99));
    report(Math.max(present, lastWindow)); // (N1)
    if (performance.now() - windowFrom < windowMs) return;
    windowFrom = performance.now();
    lastWindow = present;
    delay.reset();
  });
  const collections = observeCollections(metrics);
  metrics.gauge('process_resident_memory_bytes', (report) => report(process.memoryUsage.rss()));
  metrics.gauge('dormouse_disk_free_bytes', async (report) => report(await freeBytes(directory)));
  return () => {
    delay.disable();
    collections.disconnect();
  };
}

/** The monitor counts its own interval in. */
const lateness = (nanoseconds: number): number =>
  Math.max(0, nanoseconds / nanosecondsPerSecond - resolutionMs / 1_000);

function observeCollections(metrics: Metrics): PerformanceObserver {
  const byKind = new Map(
    (
      [
        [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
        [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
        [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
        [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
      ] as const
    ).map(([number, kind]) => [number, metrics.histogram('nodejs_gc_duration_seconds', kind)]),
  );
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail, duration } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
      byKind.get(detail.kind)?.record(duration / 1_000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return observer;
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
