// A collector that is away, never answers or fails: conversations go on, the stop is in time, the log says it once, and
// the spans that it does not get are counted.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { openThread, say, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readScrape, valueOf } from '../metrics/prometheus-text.ts';
import { freePort } from '../services/free-ports.ts';

const turns = 5;
/** A stop waits for the collector, but not for longer than this. */
const stopMsMax = 15_000;
const servers: Server[] = [];

afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await cleanUp();
});

async function collector(status: number | null): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (status !== null) response.writeHead(status).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const dropped = async (at: Standalone): Promise<number> =>
  valueOf(readScrape((await at.request('GET', '/metrics')).text), 'dormouse_spans_dropped_total');

it.each([
  ['is away', async () => `http://127.0.0.1:${await freePort()}`],
  ['never answers', () => collector(null)],
  ['fails', () => collector(500)],
])('a collector that %s', async (_how, endpoint) => {
  const at = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: await endpoint(),
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_BSP_EXPORT_TIMEOUT: '500',
      OTEL_EXPORTER_OTLP_TIMEOUT: '400',
    },
  });
  const system = { ...at, output: at.output };
  const thread = await openThread(system);
  await untilStatus(system, thread, 'idle');
  for (let turn = 0; turn < turns; turn++)
    expect(await say(system, thread, 'What is the weather in Oslo?')).toMatchObject({ status: 'idle' });
  await expect.poll(() => at.output(), { timeout: 20_000 }).toContain('telemetry_failed');
  await expect.poll(() => dropped(at)).toBeGreaterThan(turns);
  const stopping = performance.now();
  expect(await at.stop()).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(stopMsMax);
  expect(at.output().split('telemetry_failed').length - 1).toBe(1);
});

it('counts a span that finds no room', async () => {
  const at = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: await collector(null),
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
      OTEL_BSP_SCHEDULE_DELAY: '60000',
    },
  });
  const system = { ...at, output: at.output };
  const thread = await openThread(system);
  await untilStatus(system, thread, 'idle');
  expect(await dropped(at)).toBe(0);
  for (let turn = 0; turn < turns; turn++) await say(system, thread, 'What is the weather in Oslo?');
  // Four wait, and as many may be on their way.
  expect(await dropped(at)).toBeGreaterThan(turns);
  expect(at.output()).toContain('4 wait for the collector');
  expect(await at.stop()).toBe(0);
});

const unusable = [
  `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
  `00-${'A'.repeat(32)}-${'b'.repeat(16)}-01`,
  `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01-${'x'.repeat(4_000)}`,
  `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  'x',
];

it('a traceparent that is none changes nothing', async () => {
  const at = await startStandalone({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: await collector(200) } });
  for (const traceparent of unusable) {
    const answer = await at.request('POST', '/v1/threads', { agent: 'assistant' }, { headers: { traceparent } });
    expect(answer.status).toBe(201);
    const refused = await at.request('POST', '/v1/threads', {}, { headers: { traceparent } });
    expect(refused.status).toBe(422);
    expect(refused.json.trace_id).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(traceparent).not.toContain(refused.json.trace_id);
  }
  expect(await at.stop()).toBe(0);
});
