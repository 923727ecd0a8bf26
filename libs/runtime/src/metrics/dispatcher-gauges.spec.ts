import { createMemoryMetrics } from '@dormouse/adapter-memory';
import { expect, it } from 'vitest';
import { observeDispatcher } from './dispatcher-gauges.ts';

it('G1 a tool server is shown by the tenants in each state, and by its oldest call', async () => {
  const metrics = createMemoryMetrics();
  observeDispatcher(metrics, {
    breakers: () => [
      ['mail', 'open'],
      ['mail', 'closed'],
      ['mail', 'open'],
    ],
    openCalls: () => [
      ['mail', 1_000],
      ['mail', 90_000],
      ['maps', 0],
    ],
  });
  expect([...(await metrics.observe('dormouse_tool_breaker'))]).toEqual([
    ['mail closed', 1],
    ['mail open', 2],
    ['mail half_open', 0],
  ]);
  expect([...(await metrics.observe('dormouse_tool_oldest_call_seconds'))]).toEqual([
    ['mail', 90],
    ['maps', 0],
  ]);
});
