// A cluster under `--observability`: its five processes send their spans to a real trace store, whose query API has the
// whole shape of a turn.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../e2e/conversation.ts';
import { readDocument, root } from '../docs/document.ts';
import { stepsOf, walk } from '../docs/walk-through.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { jaegerProgram } from '../services/jaeger/jaeger.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { prometheusPrograms } from '../services/prometheus.ts';
import { serviceCache } from '../services/service-cache.ts';
import { agentRunOf } from '../traces/agent-run.ts';
import { type OtlpTraces, type ReceivedSpan, spansOf, treeOf } from '../traces/otlp-receiver.ts';
import { takeTwoToolTurn, treeOverCluster, type TwoToolTurn } from '../traces/two-tool-turn.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

const servers = servicesOrSkipFile();
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const programs =
  servers === null ? [] : [await jaegerProgram(serviceCache, say), await prometheusPrograms(serviceCache, say)];
const missing = programs.flatMap((each) => (each.available ? [] : [`${each.reason} ${each.remedy}`]));
const callbackTree = ['POST /callback/{token} (server)', '  send inputs (producer)'];
/** What is beside a span's name in a terminal begins here. */
const nameColumns = 43;
const observe = fileURLToPath(new URL('../../deploy/observability/src/observe.ts', import.meta.url));

describe.skipIf(servers === null)('the trace store of a cluster', () => {
  let at: Cluster;
  let turn: TwoToolTurn;
  let spans: readonly ReceivedSpan[];
  beforeEach((context) => {
    if (missing.length > 0) context.skip(missing.join(' '));
  });
  beforeAll(async () => {
    if (servers === null || missing.length > 0) return;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' }; // not those of this shell
    at = await startCluster(servers, env, ['--observability']);
    turn = await takeTwoToolTurn(at);
    const { json } = await at.request('GET', `/v1/threads/${turn.thread}/lineage`);
    const { trace_id: trace }: Json = json.data.at(-1);
    spans = await stored(trace, treeOverCluster(turn.agent).length);
  });
  afterAll(() => endClusters());

  /** A trace once the store has so many spans of it. */
  const stored = (trace: string, count: number): Promise<readonly ReceivedSpan[]> =>
    eventually(async () => {
      const answer = await fetch(`${at.traces}/api/v3/traces/${trace}`);
      if (!answer.ok) return undefined;
      const { result } = (await answer.json()) as { readonly result: OtlpTraces };
      const found = spansOf(result);
      return found.length >= count && found;
    });

  it('has a turn with two tools as one tree, name by name and parent by parent', () => {
    expect(treeOf(spans)).toEqual(treeOverCluster(turn.agent));
    expect(new Set(spans.map(({ attributes }) => attributes['gen_ai.conversation.id']))).toEqual(
      new Set([turn.thread]),
    );
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual([
      'dormouse-ingress-gateway',
      'dormouse-thread-processor',
      'dormouse-tool-dispatcher',
    ]);
  });

  it('has what a backend for agents draws: the models and the tools of the turn, and its tokens', async () => {
    const { usage } = (await at.request('GET', `/v1/threads/${turn.thread}`)).json;
    expect(agentRunOf(spans)).toEqual({
      ...{ agents: 3, models: 3, tools: 2 },
      ...{ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    });
  });

  it('has the callbacks as traces of their own, to which what follows them is linked', async () => {
    const linked = new Set(spans.flatMap(({ links }) => links.map(({ traceId }) => traceId)));
    const traces = await Promise.all([...linked].map((trace) => stored(trace, 2)));
    const callbacks = traces.filter((trace) => treeOf(trace)[0]?.startsWith('POST /callback'));
    expect(callbacks.map(treeOf)).toEqual([callbackTree, callbackTree]);
    const services = callbacks.flat().map(({ service }) => service);
    expect(new Set(services)).toEqual(new Set(['dormouse-callback-gateway']));
  });

  it('is shown in a terminal by the command that the start names', async () => {
    const args = ['--conditions=dormouse-source', observe, 'trace', turn.thread, '--url', at.traces ?? ''];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect(head).toContain(`trace ${spans[0]?.traceId}`);
    const names = lines.map((line) => line.slice(0, nameColumns).trim());
    expect(names.toSorted()).toEqual(spans.map(({ name }) => name).toSorted());
  });

  it('and the rest of the cluster do what the guide shows', async () => {
    const steps = stepsOf(readDocument('docs/guides/observability.md'));
    const real = {
      'http://127.0.0.1:7420': at.url,
      'http://127.0.0.1:7427': at.traces ?? '',
      '.dormouse-cluster': at.directory,
    };
    expect((await walk(steps, root, real)).surprises).toEqual([]);
  });
});
