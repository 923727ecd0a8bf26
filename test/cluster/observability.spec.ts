// A cluster under `--observability`: its Prometheus reads the five services, every panel's query has data, and the
// metrics of every alert are there. The faults that some panels need are made here: a tool server that answers 500, a
// tool whose result is an error, and a model that fails.
import { metricServices } from '@dormouse/ports';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { metricsIn } from '../../deploy/observability/src/expression.ts';
import { dashboards } from '../../deploy/observability/src/files.ts';
import { recordings } from '../../deploy/observability/src/recordings.ts';
import { alertRules } from '../../deploy/observability/src/rules.ts';
import { openThread, say, scriptedAgent, untilEvent } from '../e2e/conversation.ts';
import { type DrivenToolServer, driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { prometheusPrograms } from '../services/prometheus.ts';
import { serviceCache } from '../services/service-cache.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const servers = servicesOrSkipFile();
const prometheus = servers === null ? null : await prometheusPrograms(serviceCache, () => {});

const dataWithinMs = 150_000;
const betweenRoundsMs = 6_000;
const window = '1m';
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Targets {
  readonly activeTargets: readonly { readonly health: string; readonly labels: { readonly job: string } }[];
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

describe.skipIf(servers === null)('a cluster with --observability', () => {
  let at: Cluster;
  let refusing: DrivenToolServer;
  beforeEach((context) => {
    if (prometheus?.available === false) context.skip(`${prometheus.reason} ${prometheus.remedy}`);
  });
  beforeAll(async () => {
    if (servers === null || prometheus?.available !== true) return;
    // A completion that fails is given up soon, and not after ten minutes.
    const env = { DORMOUSE_MODEL_RETRY_TOTAL_MS: '1000', OTEL_TRACES_EXPORTER: 'none' };
    at = await startCluster(servers, env, ['--observability']);
    refusing = await driveToolServer(at);
    refusing.failAt('/invoke');
  });
  afterAll(async () => {
    await refusing?.close();
    await endClusters();
  });

  async function api<Data>(path: string): Promise<Data> {
    const answer = (await (await fetch(`${at.prometheus}/api/v1/${path}`)).json()) as { data: Data; error?: string };
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  }

  async function hasData(expression: string): Promise<boolean> {
    const query = encodeURIComponent(expression.replaceAll('$__rate_interval', window));
    const { result } = await api<{ readonly result: readonly Sample[] }>(`query?query=${query}`);
    return result.some(({ value }) => value[1] !== 'NaN');
  }

  async function withoutData(expressions: readonly string[]): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const each of expressions) if (!(await hasData(each))) missing.push(each);
    return missing;
  }

  /** Turns with tools, a subscription, a child and a sleep, and the three faults. */
  async function round(): Promise<void> {
    const thread = await openThread(at);
    await say(at, thread, 'What is the weather in Oslo?');
    await say(at, thread, 'Remind me in 1 second: "water the plants"');
    const sleeper = await scriptedAgent(at, [[toolCall('sleep', { seconds: 1 })], [{ text: 'Awake.' }]]);
    const asleep = await openThread(at, sleeper);
    await say(at, asleep, 'sleep');
    await untilEvent(at, asleep, 'timer_fired');
    const unlucky = await scriptedAgent(at, [[toolCall('flaky', { failures: 1, how: 'answer' })], [{ text: 'Well.' }]]);
    await say(at, await openThread(at, unlucky), 'try');
    const broken = await scriptedAgent(at, [[{ fail: { status: 500 } }], [{ fail: { status: 500 } }]]);
    await at.request('POST', `/v1/threads/${await openThread(at, broken)}/messages`, { text: 'fail' });
    const work = await scriptedAgent(at, [[toolCall('work')], [{ text: 'Done.' }]], { tool_servers: [refusing.name] });
    await at.request('POST', `/v1/threads/${await openThread(at, work)}/messages`, { text: 'work' });
  }

  it('is scraped, and Prometheus has loaded every rule', async () => {
    const targets = async (): Promise<readonly string[]> => {
      const { activeTargets } = await api<Targets>('targets');
      return activeTargets.filter(({ health }) => health === 'up').map(({ labels }) => labels.job);
    };
    await expect.poll(async () => (await targets()).toSorted()).toEqual(metricServices.toSorted());
    const rules = async (): Promise<readonly string[]> => {
      const { groups } = await api<Rules>('rules');
      const healthy = groups.flatMap((group) => group.rules).filter(({ health }) => health === 'ok');
      return healthy.map(({ name }) => name).toSorted();
    };
    const wanted = [...recordings.map(({ record }) => record), ...alertRules.map(({ alert }) => alert)];
    await expect.poll(rules).toEqual(wanted.toSorted());
  });

  it('gives data to every panel of every dashboard', { timeout: dataWithinMs * 2 }, async () => {
    const all = dashboards.flatMap(({ rows }) =>
      rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
    );
    let missing: readonly string[] = [...new Set(all)];
    for (const until = Date.now() + dataWithinMs; missing.length > 0 && Date.now() < until;) {
      await round();
      await pause(betweenRoundsMs);
      missing = await withoutData(missing);
    }
    expect(missing).toEqual([]);
  });

  it('has the metrics of every alert', async () => {
    const named = new Set(alertRules.flatMap(({ expr }) => [...metricsIn(expr)]));
    expect(await withoutData([...named].map((name) => `count (${name})`))).toEqual([]);
  });
});
