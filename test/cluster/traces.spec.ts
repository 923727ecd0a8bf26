// The traces of a real cluster: five processes, one tree per turn.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../e2e/conversation.ts';
import { withServices } from '../services/needed-services.ts';
import { knockWithForeignContext, knockWithHostileContexts } from '../traces/hostile-contexts.ts';
import { problemsOfSpan } from '../traces/span-problems.ts';
import type { Json } from '../e2e/standalone-process.ts';
import { type OtlpReceiver, startOtlpReceiver, traceOf, treeOf } from '../traces/otlp-receiver.ts';
import { takeTwoToolTurn, treeOverCluster } from '../traces/two-tool-turn.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';

withServices(['kafka', 'mongo', 'redis'], (servers) => {
  let receiver: OtlpReceiver;
  let at: Cluster;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    at = await startCluster(servers, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    });
  });
  afterAll(async () => {
    await endClusters();
    await receiver.close();
  });

  it('shows a turn with two tools as one tree over five processes', async () => {
    const { agent, thread } = await takeTwoToolTurn(at);
    const spans = await traceOf(receiver, 'POST /v1/threads/{id}/messages', 21);
    expect(treeOf(spans)).toEqual(treeOverCluster(agent));
    expect([...new Set(spans.map(({ service }) => service))].toSorted()).toEqual([
      'dormouse-ingress-gateway',
      'dormouse-thread-processor',
      'dormouse-tool-dispatcher',
    ]);
    const ofCallback = 'POST /callback/{token}'; // the gateway exports it in its own time
    const callback = await eventually(async () => receiver.spans.find(({ name }) => name === ofCallback));
    expect(callback).toMatchObject({ service: 'dormouse-callback-gateway', parentId: null });
    expect(receiver.spans.flatMap((span) => problemsOfSpan(span, false))).toEqual([]);
    const turns = (await at.request('GET', `/v1/threads/${thread}/lineage`)).json.data;
    const steps: readonly Json[] = turns.flatMap((turn: Json) => turn.steps);
    const wakes = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    const callbacks = steps.filter(({ kind }) => kind === 'callback');
    expect([wakes.length, callbacks.length]).toEqual([3, 2]);
    for (const { trace_id: traceId, span_id: spanId } of callbacks) {
      const named = await eventually(async () => receiver.spans.find((span) => span.spanId === spanId));
      expect(named).toMatchObject({ name: ofCallback, traceId });
      expect(wakes.filter(({ links }) => links.some((link) => link.spanId === spanId))).toHaveLength(1);
    }
  });

  it('takes from the contexts of strangers a parent or a link, or nothing', async () => {
    await knockWithHostileContexts(at, receiver);
    await knockWithForeignContext(at, receiver);
  });
});
