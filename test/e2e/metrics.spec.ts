// What a real standalone process says of itself: the text that a scraper reads, at its two places.
import { metricNames, metricServices, metricsOf, prometheusName, waitKinds } from '@dormouse/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectorName, metricsIn, startOtlpReceiver } from '../metrics/otlp-receiver.ts';
import {
  familiesWithoutSeries,
  gaugesWithoutSeries,
  readScrape,
  type Scrape,
  valueOf,
} from '../metrics/prometheus-text.ts';
import { freePort } from '../services/free-ports.ts';
import { openStream } from './event-stream.ts';
import { cleanUp, type Standalone, startStandalone } from './standalone-process.ts';

afterAll(cleanUp);

async function scrapeOf(system: Pick<Standalone, 'request'>): Promise<Scrape> {
  const { status, headers, text } = await system.request('GET', '/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  return readScrape(text);
}

describe('the metrics of a process', () => {
  let system: Standalone;
  beforeAll(async () => {
    system = await startStandalone();
  });

  it('are all there from the start', async () => {
    const scrape = await scrapeOf(system);
    const exported = [...scrape.keys()].filter((name) => name !== 'target_info');
    expect(exported.toSorted()).toEqual(metricNames.map(prometheusName).toSorted());
    expect([...familiesWithoutSeries(scrape), ...gaugesWithoutSeries(scrape)]).toEqual([]);
    for (const name of ['dormouse_turns_total', 'dormouse_rebalances_total', 'gen_ai_client_token_usage'])
      expect({ name, value: valueOf(scrape, name) }).toEqual({ name, value: 0 });
    expect(valueOf(scrape, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(valueOf(scrape, 'dormouse_disk_free_bytes')).toBeGreaterThan(0);
  });

  it('count requests by route and status, never by path', async () => {
    await system.request('GET', '/v1/threads/thr_nothing');
    await system.request('GET', '/v1/nowhere/at/all');
    await system.request('POST', '/nowhere/at/all');
    const scrape = await scrapeOf(system);
    const route = '/v1/threads/{id}';
    expect(valueOf(scrape, 'dormouse_http_requests_total', { route, status: '404' })).toBe(1);
    expect(valueOf(scrape, 'dormouse_http_duration_seconds', { route })).toBe(1);
    expect(valueOf(scrape, 'dormouse_http_requests_total', { route: 'unknown' })).toBeGreaterThan(0);
    expect(JSON.stringify([...scrape])).not.toMatch(/thr_nothing|nowhere/);
  });

  it('say what a turn with one tool did', async () => {
    const opened = await system.request('POST', '/v1/threads', { agent: 'assistant' });
    const thread = `/v1/threads/${opened.json.id}`;
    const headers = { prefer: 'wait=60' };
    const text = 'What is the weather in Oslo?';
    expect((await system.request('POST', `${thread}/messages`, { text }, { headers })).json.status).toBe('idle');
    const scrape = await scrapeOf(system);
    const tool = { tool_server: 'example-tools' };
    const model = { provider: 'demo', model: 'demo' };
    expect(valueOf(scrape, 'dormouse_turns_total', { outcome: 'completed' })).toBe(1);
    expect(valueOf(scrape, 'dormouse_turn_duration_seconds')).toBe(1);
    expect(valueOf(scrape, 'dormouse_tool_calls_total', { ...tool, outcome: 'result' })).toBe(1);
    expect(valueOf(scrape, 'dormouse_tool_attempts_total', { ...tool, class: '2xx' })).toBe(1);
    expect(valueOf(scrape, 'dormouse_tool_ack_seconds', tool)).toBe(1);
    expect(valueOf(scrape, 'dormouse_tool_wait_seconds', tool)).toBe(1);
    expect(valueOf(scrape, 'dormouse_callbacks_total', { status: '200' })).toBe(1);
    expect(valueOf(scrape, 'dormouse_completions_total', { ...model, outcome: 'recorded' })).toBe(2);
    expect(valueOf(scrape, 'gen_ai_client_operation_duration_seconds', { gen_ai_provider_name: 'demo' })).toBe(2);
    expect(valueOf(scrape, 'dormouse_inputs_total', { kind: 'UserMessage' })).toBe(1);
    for (const name of ['decide', 'append', 'payment'])
      expect(valueOf(scrape, `dormouse_${name}_duration_seconds`), name).toBeGreaterThanOrEqual(4);
    expect(valueOf(scrape, 'dormouse_input_wait_seconds')).toBeGreaterThanOrEqual(3);
    expect(valueOf(scrape, 'dormouse_dispatch_duration_seconds')).toBe(2); // a load and a call
    for (const operation of ['append', 'read', 'write'])
      expect(valueOf(scrape, 'dormouse_store_duration_seconds', { store: 'sqlite', operation })).toBeGreaterThan(0);
    expect(scrape.get('dormouse_consumer_lag')?.samples.map(({ labels }) => labels)).toEqual(
      ['inputs', 'dispatches', 'notices'].map((topic) => ({ topic, partition: '0' })),
    );
    expect(scrape.get('dormouse_oldest_unreleased_seconds')?.samples).toHaveLength(1);
    const kinds = scrape.get('dormouse_oldest_wait_seconds')?.samples.map(({ labels }) => labels['kind']);
    expect(kinds?.toSorted()).toEqual([...waitKinds].toSorted());
    expect(scrape.get('dormouse_subscriptions')?.samples).toMatchObject([{ value: 0 }]);
    expect(scrape.get('dormouse_completion_slots')?.samples).toHaveLength(2);
    expect(scrape.get('dormouse_event_streams')?.samples).toMatchObject([{ value: 0 }]);
  });

  it('say how many streams clients have open, and how far these are behind', async () => {
    const opened = await system.request('POST', '/v1/threads', { agent: 'assistant' });
    const stream = await openStream({ ...system, output: () => '' }, opened.json.id);
    await stream.next();
    const open = async (): Promise<number> => valueOf(await scrapeOf(system), 'dormouse_event_streams');
    await expect.poll(open).toBe(1);
    await system.request('POST', `/v1/threads/${opened.json.id}/messages`, { text: 'What time is it?' });
    await stream.until(({ event, data }) => event === 'completion_recorded' && data.final === true);
    const scrape = await scrapeOf(system);
    expect(valueOf(scrape, 'dormouse_event_stream_lag_seconds')).toBeGreaterThanOrEqual(3);
    expect(valueOf(scrape, 'dormouse_event_streams_lagged_total')).toBe(0);
    stream.close();
    await expect.poll(open).toBe(0);
  });

  it('know since when the oldest thread waits for a person', async () => {
    const opened = await system.request('POST', '/v1/threads', { agent: 'assistant' });
    const thread = `/v1/threads/${opened.json.id}`;
    const headers = { prefer: 'wait=60' };
    await system.request('POST', `${thread}/messages`, { text: 'Delete everything.' }, { headers });
    const age = async (): Promise<number> =>
      valueOf(await scrapeOf(system), 'dormouse_oldest_wait_seconds', { kind: 'approval' });
    await expect.poll(age).toBeGreaterThan(0);
    expect(valueOf(await scrapeOf(system), 'dormouse_threads')).toBe(3);
    expect(valueOf(await scrapeOf(system), 'dormouse_threads', { status: 'waiting' })).toBe(1);
  });

  it('need a key that administers the tenant', async () => {
    const { json } = await system.request('POST', '/v1/api-keys', {
      name: 'reader',
      scopes: ['read'],
      expires_at: null,
    });
    expect((await system.request('GET', '/metrics', undefined, { key: json.key })).status).toBe(403);
    expect((await system.request('GET', '/metrics', undefined, { key: null })).status).toBe(401);
  });
});

describe('the operations port of a standalone process', () => {
  it('has metrics and health without a key, and the API port has no metrics then', async () => {
    const port = await freePort();
    const system = await startStandalone({ env: { DORMOUSE_HEALTH_PORT: String(port) } });
    expect(system.output()).toContain(`http://127.0.0.1:${port}/metrics`);
    const at = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
    expect(readScrape(await (await at('/metrics')).text()).size).toBeGreaterThan(metricNames.length);
    expect([(await at('/healthz')).status, (await at('/readyz')).status]).toEqual([200, 200]);
    expect((await system.request('GET', '/metrics')).status).toBe(404);
  });

  it('has none when metrics are off, and leaves out the older name of tokens when asked', async () => {
    const off = await startStandalone({ env: { DORMOUSE_METRICS: 'false' } });
    expect((await off.request('GET', '/metrics')).status).toBe(404);
    const newer = await startStandalone({ env: { DORMOUSE_METRICS_OLD_GENAI: 'false' } });
    const names = new Set((await scrapeOf(newer)).keys());
    expect(metricsOf(metricServices, false).every((name) => names.has(prometheusName(name)))).toBe(true);
    expect(names).not.toContain('gen_ai_client_token_usage');
  });
});

describe('metrics that are pushed', () => {
  it('have the names that a scrape has, and the name of their process', async () => {
    const receiver = await startOtlpReceiver();
    const system = await startStandalone({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRIC_EXPORT_INTERVAL: '500',
        OTEL_SERVICE_NAME: 'of-this-test',
      },
    });
    const pushed = await receiver.pushed;
    const families = await scrapeOf(system);
    const named = metricsIn(pushed).map(collectorName);
    // A family without a series is text in a scrape, and nothing in a push.
    const scraped = [...families.values()].filter(({ samples }) => samples.length > 0).map(({ name }) => name);
    expect(new Set(named).size).toBe(named.length);
    expect(scraped.filter((name) => name !== 'target_info' && !named.includes(name))).toEqual([]);
    expect(named.filter((name) => !families.has(name))).toEqual([]);
    expect(pushed.resourceMetrics[0]?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'of-this-test' },
    });
    expect(await system.stop()).toBe(0);
    receiver.close();
  });
});
