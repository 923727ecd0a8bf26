// A turn whose processor is killed while a tool call is open: the other processor goes on in the same tree, and what it
// does has its parent and its link as if nothing had happened.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordToolServer, type RecordingToolServer } from '../conformance/recording-tool-server.ts';
import { eventually, openThread, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { toolCall } from '../e2e/driven-tool-server.ts';
import { withServices } from '../services/needed-services.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver, treeOf } from '../traces/otlp-receiver.ts';
import { type Cluster, endClusters, startCluster } from './cluster-process.ts';
import { type SecondProcessor, startSecondProcessor } from './second-processor.ts';

const secondName = `second-processor-${randomUUID()}`;
/** Each thread is on one of four partitions, two of which the second processor has. */
const threadsMax = 60;

withServices(['kafka', 'mongo', 'redis'], (servers) => {
  let receiver: OtlpReceiver;
  let at: Cluster;
  let server: RecordingToolServer;
  let second: SecondProcessor | undefined;

  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    const settings = {
      DORMOUSE_KAFKA_SESSION_TIMEOUT_MS: '3000',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    at = await startCluster(servers, settings);
    second = await startSecondProcessor(at, servers, { ...settings, OTEL_SERVICE_NAME: secondName });
    server = await recordToolServer(at);
  });
  afterAll(async () => {
    await second?.end('SIGKILL');
    await endClusters();
    await server?.close();
    await receiver.close();
  });

  const spanOf = (thread: string, name: string, place = 0): Promise<ReceivedSpan> =>
    eventually(
      async () =>
        receiver.spans.filter((span) => span.name === name && span.attributes['dormouse.thread'] === thread)[place],
    );

  const withId = (wanted: string | null | undefined): Promise<ReceivedSpan> =>
    eventually(async () => receiver.spans.find(({ spanId }) => spanId === wanted));

  it('keeps its tree and its link when another processor takes over', async () => {
    const script = [[toolCall('work')], [{ text: 'done' }]];
    const agent = await scriptedAgent(at, script, { tool_servers: [server.name] });
    let found: { readonly thread: string; readonly executed: ReceivedSpan; readonly call: number } | null = null;
    for (let call = 0; found === null && call < threadsMax; call++) {
      const thread = await openThread(at, agent);
      await untilStatus(at, thread, 'idle');
      await at.request('POST', `/v1/threads/${thread}/messages`, { text: 'go' });
      const executed = await spanOf(thread, 'execute_tool work');
      const first = await spanOf(thread, `invoke_agent ${agent}`);
      if (first.service === secondName) found = { thread, executed, call };
    }
    if (found === null) throw new Error('the second processor had no thread');
    const { thread, executed, call } = found;
    await second?.end('SIGKILL');
    second = undefined;
    const invocation = await server.invocation(call);
    expect((await server.send(invocation, { type: 'tool_result', text: 'done' })).status).toBe(200);
    await untilStatus(at, thread, 'idle');

    const wake = await spanOf(thread, `invoke_agent ${agent}`, 1);
    const settled = await spanOf(thread, 'settle_tool work');
    expect(wake).toMatchObject({ service: 'dormouse-thread-processor', traceId: executed.traceId });
    expect([wake.parentId, settled.parentId]).toEqual([executed.spanId, wake.spanId]);
    const callback = await withId(wake.links[0]?.spanId);
    expect(callback).toMatchObject({
      ...{ name: 'POST /callback/{token}', service: 'dormouse-callback-gateway', parentId: null },
    });
    expect(treeOf(receiver.spans.filter(({ traceId }) => traceId === executed.traceId))[0]).toBe(
      'POST /v1/threads/{id}/messages (server)',
    );
  });
});
