import { metricServices } from '@dormouse/ports';
import { afterEach, expect, it, vi } from 'vitest';
import { measureProcess } from './metrics-process.ts';
import { createMetricsRegistry } from './metrics-registry.ts';

const name = 'dormouse_event_loop_delay_seconds';
const turns = async (count: number): Promise<void> => {
  for (let nth = 0; nth < count; nth += 1) await new Promise((resolve) => setTimeout(resolve, 110));
};
function blockFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
let stop: () => void = () => {};
afterEach(() => stop());

it('N2 measures the delay of the event loop from the first reading on', async () => {
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const registry = createMetricsRegistry({ services: metricServices, withOldGenAi: false, logger });
  stop = measureProcess(registry, '.');
  const read = async (): Promise<unknown> => {
    const { resourceMetrics } = await registry.producer('prometheus').collect();
    const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
    return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0]?.value;
  };
  await turns(2);
  blockFor(1_500);
  await turns(2);
  expect(await read()).toBe(0); // nothing was measured before
  await turns(2);
  blockFor(1_500);
  await vi.waitFor(async () => expect(await read()).toBeGreaterThan(1));
});
