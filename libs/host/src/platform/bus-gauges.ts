// Gauges of what the buses have in hand, read from the topology whenever metrics are read.
//
// Invariant:
//   G1. One reading serves all gauges of a scrape: it may ask the brokers.
import type { Metrics, PartitionLoad } from '@dormouse/ports';
import { remembered } from './remembered.ts';

const freshMs = 1_000;

export function observeBuses(metrics: Metrics, load: () => Promise<readonly PartitionLoad[]>): void {
  const read = remembered(load, freshMs); // (G1)
  const inputs = async (): Promise<readonly PartitionLoad[]> =>
    (await read()).filter(({ topic }) => topic === 'inputs');
  metrics.gauge('dormouse_consumer_lag', async (report) => {
    for (const { topic, partition, lag } of await read()) report(lag, topic, String(partition));
  });
  metrics.gauge('dormouse_inputs_in_flight', async (report) => {
    report((await inputs()).reduce((sum, { inFlight }) => sum + inFlight, 0));
  });
  metrics.gauge('dormouse_oldest_unreleased_seconds', async (report) => {
    for (const { partition, oldestMs } of await inputs()) report(oldestMs / 1_000, String(partition));
  });
}
