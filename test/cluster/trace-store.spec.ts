// A cluster under `--observability`: its five processes send their spans to a real trace store, whose query API has the
// whole shape of a turn, and what leads from one trace to another.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { readDocument, root } from '../docs/document.ts';
import { stepsOf, walk } from '../docs/walk-through.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { jaegerProgram } from '../services/jaeger/jaeger.ts';
import { servicesOrSkipFile } from '../services/needed-services.ts';
import { prometheusPrograms } from '../services/prometheus.ts';
import { serviceCache } from '../services/service-cache.ts';
import { agentRunOf } from '../traces/agent-run.ts';
import { linkedFrom, spanOf, tracedCauses } from '../traces/causes.ts';
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
    const { trace_id: traceId }: Json = json.data.at(-1);
    spans = await stored(traceId, treeOverCluster(turn.agent).length);
  });
  afterAll(() => endClusters());

  async function trace(traceId: string): Promise<readonly ReceivedSpan[]> {
    const answer = await fetch(`${at.traces}/api/v3/traces/${traceId}`);
    if (!answer.ok) return [];
    const { result } = (await answer.json()) as { readonly result: OtlpTraces };
    return spansOf(result);
  }

  /** A trace once the store has so many spans of it. */
  const stored = (traceId: string, count: number): Promise<readonly ReceivedSpan[]> =>
    eventually(async () => {
      const found = await trace(traceId);
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
    const traces = await Promise.all([...linked].map((traceId) => stored(traceId, 2)));
    const callbacks = traces.filter((each) => treeOf(each)[0]?.startsWith('POST /callback'));
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

  it.each(tracedCauses)('has %s', (_what, show) => show({ at, trace }));

  it('has one tree, and the link to the callback, of a turn whose processor was killed meanwhile', async () => {
    const seen = { at, trace };
    const tools = await driveToolServer(at);
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const agent = await scriptedAgent(at, script, { tool_servers: [tools.name] });
    const thread = await openThread(at, agent);
    await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
    const executed = await spanOf(seen, thread, 'execute_tool work');
    await spanOf(seen, thread, `invoke_agent ${agent}`);
    process.kill(at.pids['thread-processor'] ?? 0, 'SIGKILL');
    const result = { type: 'tool_result', text: 'ok' };
    const invocation = await tools.invocation(0);
    expect([await tools.send(invocation, result), await tools.send(invocation, result)]).toEqual([200, 200]);
    await untilStatus(at, thread, 'idle');
    const wake = await spanOf(seen, thread, `invoke_agent ${agent}`, 1);
    expect([wake.traceId, wake.parentId]).toEqual([executed.traceId, executed.spanId]);
    const callback = await linkedFrom(seen, wake, 'POST /callback/{token}');
    expect(callback).toMatchObject({ service: 'dormouse-callback-gateway', parentId: null });
    const { data } = (await at.request('GET', `/v1/threads/${thread}/lineage`)).json;
    expect(data[0].steps.find(({ kind }: Json) => kind === 'call')).toMatchObject({ duplicates: 1, refused: 0 });
    await tools.close();
  });
});
