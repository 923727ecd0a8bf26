import { createMemoryMetrics } from '@dormouse/adapter-memory';
import { expect, it } from 'vitest';
import { observeDispatcher } from './dispatcher-gauges.ts';

it('G1 a tool server is shown by the tenants in each state', async () => {
  const metrics = createMemoryMetrics();
  observeDispatcher(metrics, () => [
    ['mail', 'open'],
    ['mail', 'closed'],
    ['mail', 'open'],
  ]);
  expect([...(await metrics.observe('dormouse_tool_breaker'))]).toEqual([
    ['other closed', 0],
    ['other open', 0],
    ['other half_open', 0],
    ['mail closed', 1],
    ['mail open', 2],
    ['mail half_open', 0],
  ]);
});
