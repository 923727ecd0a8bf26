// The five services of a real cluster as a scraper sees them: every metric of each from its first moment, the same
// names as standalone, and what a turn leaves in each of them.
import { type MetricService, metricServices, metricsOf, prometheusName } from '@dormouse/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  familiesWithoutSeries,
  gaugesWithoutSeries,
  readScrape,
  type Scrape,
  valueOf,
} from '../metrics/prometheus-text.ts';
import { openStream } from '../e2e/event-stream.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const servers = servicesOrSkipFile();

/** As the launcher gives operations ports to the services: from ten above the API's. */
/** The services of a cluster have no data directory. */
const ofOneProcess = 'dormouse_data_directory_';

const operationsPorts: Readonly<Record<MetricService, number>> = {
  'ingress-gateway': 10,
  'callback-gateway': 11,
  'thread-processor': 12,
  'tool-dispatcher': 13,
  notifier: 14,
};

describe.skipIf(servers === null)('the metrics of a cluster', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    if (servers !== null) cluster = await startCluster(servers);
  });
  afterAll(endClusters);

  async function scrapeOf(service: MetricService): Promise<Scrape> {
    const port = Number(new URL(cluster.url).port) + operationsPorts[service];
    return readScrape(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  }

  it.each(metricServices)('are all there from the start, and no others: %s', async (service) => {
    const scrape = await scrapeOf(service);
    expect(familiesWithoutSeries(scrape)).toEqual([]);
    const exported = [...scrape.keys()].filter((name) => name !== 'target_info');
    const wanted = metricsOf([service], true).map(prometheusName);
    expect(exported.toSorted()).toEqual(wanted.toSorted());
    const empty = async (): Promise<readonly string[]> =>
      gaugesWithoutSeries(await scrapeOf(service)).filter((name) => !name.startsWith(ofOneProcess));
    await expect.poll(empty).toEqual([]);
  });

  it('say in each service what a turn with one tool did', async () => {
    const opened = await cluster.request('POST', '/v1/threads', { agent: 'assistant' });
    const thread = `/v1/threads/${opened.json.id}`;
    const headers = { prefer: 'wait=60' };
    const text = 'What is the weather in Oslo?';
    expect((await cluster.request('POST', `${thread}/messages`, { text }, { headers })).json.status).toBe('idle');
    const [ingress, callbacks, processor, dispatcher] = await Promise.all(
      (['ingress-gateway', 'callback-gateway', 'thread-processor', 'tool-dispatcher'] as const).map(scrapeOf),
    );
    if (!ingress || !callbacks || !processor || !dispatcher) throw new Error('not all were scraped');
    const tool = { tool_server: 'example-tools' };
    const route = '/v1/threads/{id}/messages';
    expect(valueOf(ingress, 'dormouse_http_requests_total', { route, status: '200' })).toBe(1);
    expect(valueOf(callbacks, 'dormouse_callbacks_total', { status: '200' })).toBe(1);
    expect(valueOf(processor, 'dormouse_turns_total', { outcome: 'completed' })).toBe(1);
    expect(valueOf(processor, 'dormouse_tool_wait_seconds', tool)).toBe(1);
    expect(valueOf(processor, 'dormouse_input_wait_seconds')).toBeGreaterThanOrEqual(3);
    expect(valueOf(dispatcher, 'dormouse_tool_attempts_total', { ...tool, class: '2xx' })).toBe(1);
    for (const [scrape, store, operation] of [
      [callbacks, 'kafka', 'produce'],
      [processor, 'mongo', 'append'],
      [processor, 'redis', 'command'],
      [dispatcher, 'mongo', 'read'],
    ] as const)
      expect(valueOf(scrape, 'dormouse_store_duration_seconds', { store, operation })).toBeGreaterThan(0);
  });

  it('say how many streams clients have open, and how far these are behind', async () => {
    const opened = await cluster.request('POST', '/v1/threads', { agent: 'assistant' });
    const stream = await openStream(cluster, opened.json.id);
    await stream.next();
    const open = async (): Promise<number> => valueOf(await scrapeOf('ingress-gateway'), 'dormouse_event_streams');
    await expect.poll(open).toBe(1);
    await cluster.request('POST', `/v1/threads/${opened.json.id}/messages`, { text: 'What time is it?' });
    await stream.until(({ event, data }) => event === 'completion_recorded' && data.final === true);
    const scrape = await scrapeOf('ingress-gateway');
    expect(valueOf(scrape, 'dormouse_event_stream_lag_seconds')).toBeGreaterThanOrEqual(3);
    expect(valueOf(scrape, 'dormouse_event_streams_lagged_total')).toBe(0);
    stream.close();
    await expect.poll(open).toBe(0);
  });

  it('say how far the consumers are, by topic and partition', async () => {
    const partitions = async (service: MetricService, topic: string): Promise<number> => {
      const samples = (await scrapeOf(service)).get('dormouse_consumer_lag')?.samples ?? [];
      return samples.filter(({ labels }) => labels['topic'] === topic).length;
    };
    await expect.poll(() => partitions('thread-processor', 'inputs')).toBe(4);
    await expect.poll(() => partitions('tool-dispatcher', 'dispatches')).toBe(4);
    await expect.poll(() => partitions('notifier', 'notices')).toBe(4);
    const processor = await scrapeOf('thread-processor');
    expect(processor.get('dormouse_oldest_unreleased_seconds')?.samples).toHaveLength(4);
    await expect.poll(async () => valueOf(await scrapeOf('thread-processor'), 'dormouse_threads')).toBe(2);
    expect(valueOf(processor, 'dormouse_takeovers_total')).toBeGreaterThanOrEqual(4);
  });
});
