// OpenTelemetry's standard variables, as the built standalone process takes them: which traces are sent, with which
// headers and resource, and when nothing is.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { openThread, say, scriptedAgent, untilStatus } from '../e2e/conversation.ts';
import { driveToolServer, toolCall } from '../e2e/driven-tool-server.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { readScrape, valueOf } from '../metrics/prometheus-text.ts';
import { spansOf, treeOf } from './otlp-receiver.ts';

interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const turns = 20;
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await cleanUp();
});

/** A process whose telemetry comes here, and what came. */
async function started(env: Readonly<Record<string, string>>): Promise<{ at: Standalone; sent: readonly Sent[] }> {
  const sent: Sent[] = [];
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    void text(request).then((body) => {
      sent.push({ path, headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const common = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  return { at: await startStandalone({ env: { ...common, ...env } }), sent };
}

it('a share of the traces is sent, each whole, with the headers and the resource of the operator alone', async () => {
  const { at, sent } = await started({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-scope=of%20this%20test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=here,team=blue',
    OTEL_SERVICE_NAME: 'of-this-test',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOG_LEVEL: 'info',
  });
  const thread = await openThread(
    at,
    await scriptedAgent(
      at,
      Array.from({ length: turns }, () => [{ text: 'Yes.' }]),
    ),
  );
  await untilStatus(at, thread, 'idle');
  for (let turn = 0; turn < turns; turn++) await say(at, thread, 'Well?');
  expect(await at.stop()).toBe(0);
  expect(sent.map(({ path, headers }) => [path, headers['x-scope']])).toEqual(
    sent.map(() => ['/v1/traces', 'of this test']),
  );
  const received = sent.map(({ body }) => JSON.parse(body));
  const traces = Map.groupBy(received.flatMap(spansOf), ({ traceId }) => traceId);
  const trees = [...traces.values()].map(treeOf).filter(([first]) => first?.includes('/messages'));
  expect(trees.length).toBeGreaterThan(0);
  expect(trees.length).toBeLessThan(turns);
  for (const tree of trees)
    expect(tree.map((line) => line.trim().split(' ')[0])).toEqual(['POST', 'invoke_agent', 'chat']);
  const resources = received
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ resource }) => resource.attributes);
  expect(new Set(resources.map(({ key }: { readonly key: string }) => key))).toEqual(
    new Set([
      ...['service.name', 'service.version', 'service.instance.id'],
      ...['telemetry.sdk.language', 'telemetry.sdk.name', 'telemetry.sdk.version'],
      ...['deployment.environment.name', 'team'],
    ]),
  );
  expect(JSON.stringify(resources)).toContain('of-this-test');
  // What OpenTelemetry says of itself is no line of ours: the log stays JSON, and quiet.
  expect(at.output()).not.toMatch(/opentelemetry|x-scope/i);
});

it('a trace that is not sampled is not sent, and its tool servers learn so', async () => {
  const { at, sent } = await started({ OTEL_TRACES_SAMPLER: 'always_off', OTEL_METRICS_EXPORTER: 'none' });
  const tools = await driveToolServer(at);
  const script = [[toolCall('work')], [{ text: 'Done.' }]];
  const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: [tools.name] }));
  const turn = say(at, thread, 'Work.');
  expect(await tools.send(await tools.invocation(0), { type: 'tool_result', text: 'ok' })).toBe(200);
  await turn;
  expect(tools.requests[0]?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  expect(await at.stop()).toBe(0);
  expect(sent).toEqual([]);
  await tools.close();
});

it.each([
  ['the SDK is off, in any letters', { OTEL_SDK_DISABLED: 'TRUE' }],
  ['no exporter is wanted', { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
])('nothing is sent when %s', async (_when, env) => {
  const { at, sent } = await started(env);
  const thread = await openThread(at, await scriptedAgent(at, [[{ text: 'Yes.' }]]));
  await say(at, thread, 'Well?');
  expect(await at.stop()).toBe(0);
  expect(sent).toEqual([]);
});

it('spans and metrics go over gRPC where the protocol says so', async () => {
  const paths = new Set<string>();
  const server = createHttp2Server().on('stream', (stream, headers) => {
    paths.add(String(headers[':path']));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.resume().on('end', () => stream.end(Buffer.alloc(5))); // an empty message
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '2000',
    },
  });
  await say(at, await openThread(at, await scriptedAgent(at, [[{ text: 'Yes.' }]])), 'Well?');
  const service = '/opentelemetry.proto.collector';
  await expect
    .poll(() => [...paths].toSorted())
    .toEqual([`${service}.metrics.v1.MetricsService/Export`, `${service}.trace.v1.TraceService/Export`]);
  const scrape = readScrape((await at.request('GET', '/metrics')).text);
  expect(valueOf(scrape, 'dormouse_spans_dropped_total')).toBe(0); // the answer was one
  expect(await at.stop()).toBe(0);
  server.close();
});
