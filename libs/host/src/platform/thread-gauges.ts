// Gauges of all threads of an installation, read from the directory whenever metrics are read.
//
// Invariants:
//   T1. One process exports them: `isFirst` says whether it is this one now.
//   T2. The directory is asked once in `freshMs`, however often metrics are read.
import {
  type Clock,
  type Metrics,
  otherValue,
  type ThreadDirectory,
  threadStatuses,
  threadWaitKinds,
} from '@dormouse/ports';
import { remembered } from './remembered.ts';

const freshMs = 5_000;

export function observeThreads(
  metrics: Metrics,
  directory: ThreadDirectory,
  clock: Pick<Clock, 'now'>,
  isFirst: () => boolean,
): void {
  const census = remembered(() => directory.census(), freshMs); // (T2)
  const secondsSince = (since: number): number => Math.max(0, clock.now() - since) / 1_000;
  metrics.gauge('dormouse_threads', async (report) => {
    if (!isFirst()) return; // (T1)
    const { threads } = await census();
    for (const status of threadStatuses) report(threads[status], status);
  });
  metrics.gauge('dormouse_parked_threads', async (report) => {
    if (isFirst()) report((await census()).threads.parked);
  });
  metrics.gauge('dormouse_subscriptions', async (report) => {
    if (isFirst()) report((await census()).subscriptions);
  });
  metrics.gauge('dormouse_oldest_wait_seconds', async (report) => {
    if (!isFirst()) return;
    const { oldest } = await census();
    for (const kind of threadWaitKinds) {
      const since = oldest[kind];
      report(since === undefined ? 0 : secondsSince(since), kind);
    }
  });
  metrics.gauge('dormouse_tool_oldest_call_seconds', async (report) => {
    if (!isFirst()) return;
    report(0, otherValue);
    for (const { toolServer, since } of (await census()).calls) report(secondsSince(since), toolServer);
  });
}
