// A tool server of the SDK whose author has set up OpenTelemetry, called by the built standalone process: one trace.
import { Server } from 'node:http';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { defineTool, serve, type ToolServer } from '@dormouse/tool-server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually, openThread, say, scriptedAgent, untilEvent, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

const exporter = new InMemorySpanExporter();
const sdk = new NodeSDK({
  resourceDetectors: [],
  metricReaders: [],
  logRecordProcessors: [],
  spanProcessors: [new SimpleSpanProcessor({ exporter })],
});
const none = z.strictObject({});
const tracer = trace.getTracer('author');
const remind = defineTool({ name: 'remind', description: 'Says when.', input: none }, async (_given, ctx) => {
  const subscription = await ctx.subscribe({ text: 'Listening.' });
  context.with(trace.deleteSpan(context.active()), () =>
    subscription.emit('later', { associative: true, final: true }),
  );
  return '';
});
const fail = defineTool({ name: 'fail', description: 'Cannot.', input: none }, () => {
  throw new RangeError('words of a user');
});
const lookUp = defineTool({ name: 'look_up', description: 'Looks.', input: none }, () =>
  tracer.startActiveSpan('query', async (span) => {
    await Promise.resolve();
    span.end();
    return 'found';
  }),
);

let receiver: OtlpReceiver;
let tools: ToolServer;
let at: Standalone;

beforeAll(async () => {
  sdk.start();
  receiver = await startOtlpReceiver();
  tools = await serve({ name: 'traced', tools: [lookUp, fail, remind] });
  at = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const registered = await at.request('POST', '/v1/tool-servers', { name: 'traced', base_url: tools.url });
  expect(registered.status).toBe(201);
});
afterAll(async () => {
  await at.stop();
  await tools.close();
  await receiver.close();
  await sdk.shutdown();
  await cleanUp();
});

const spanOf = (name: string, thread: string): Promise<ReadableSpan> =>
  eventually(async () =>
    exporter
      .getFinishedSpans()
      .find((span) => span.name === name && span.attributes['gen_ai.conversation.id'] === thread),
  );
const runtimeSpan = (name: string, thread: string) =>
  eventually(async () =>
    receiver.spans.find((span) => span.name === name && span.attributes['dormouse.thread'] === thread),
  );

async function threadThatCalls(tool: string): Promise<string> {
  const script = [[{ tool_call: { name: tool, arguments: {} } }], [{ text: 'done' }]];
  const thread = await openThread(at, await scriptedAgent(at, script, { tool_servers: ['traced'] }));
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'go');
  return thread;
}

it('R1 R2 the work of a call, what it does and its callback are below the POST of the runtime', async () => {
  const thread = await threadThatCalls('look_up');
  const posted = await runtimeSpan('POST traced', thread);
  const run = await spanOf('run_tool look_up', thread);
  const sent = await spanOf('POST callback', thread);
  const query = exporter.getFinishedSpans().find(({ name }) => name === 'query');
  expect(run.spanContext().traceId).toBe(posted.traceId);
  expect(run.parentSpanContext?.spanId).toBe(posted.spanId);
  expect(run.attributes).toMatchObject({ 'gen_ai.tool.name': 'look_up', 'gen_ai.tool.call.id': expect.any(String) });
  expect(run.attributes['gen_ai.tool.call.id']).toBe(posted.attributes['dormouse.call']);
  for (const child of [query, sent]) expect(child?.parentSpanContext?.spanId).toBe(run.spanContext().spanId);
  expect(sent.attributes).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' });
  const callback = await runtimeSpan('POST /callback/{token}', thread);
  expect(callback.links).toEqual([{ traceId: posted.traceId, spanId: sent.spanContext().spanId }]);
});

it('R4 a handler that throws is an error by its class, without a word of it', async () => {
  const thread = await threadThatCalls('fail');
  const run = await spanOf('run_tool fail', thread);
  expect(run.status).toEqual({ code: 2 });
  expect(run.attributes['error.type']).toBe('RangeError');
  const text = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, status }) => [name, attributes, status]),
  );
  expect(text).not.toMatch(/words of a user|callback\/|http:\/\//);
});

it('R2 an event outside of any span begins a trace that is linked to the POST of its call', async () => {
  const thread = await threadThatCalls('remind');
  await untilEvent(at, thread, 'subscription_event_received');
  const posted = await runtimeSpan('POST traced', thread);
  const event = await eventually(async () =>
    exporter.getFinishedSpans().find(({ name, links }) => name === 'POST callback' && links.length > 0),
  );
  expect(event.parentSpanContext).toBeUndefined();
  expect(event.links[0]?.context).toMatchObject({ traceId: posted.traceId, spanId: posted.spanId });
});

it('R1 a span of the author for the request is the one above the work', async () => {
  const given = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const plain = Reflect.get(Server.prototype, 'emit') as (this: Server, ...args: unknown[]) => boolean;
  /** As the instrumentation of HTTP does it. */
  Server.prototype.emit = function (event, ...args: unknown[]) {
    const emit = (): boolean => plain.apply(this, [event, ...args]);
    const request = args[0] as { readonly url?: string; readonly headers: object } | undefined;
    if (event !== 'request' || request?.url !== '/invoke') return emit();
    const above = propagation.extract(context.active(), request.headers);
    return tracer.startActiveSpan('POST /invoke', { kind: SpanKind.SERVER }, above, (span) => {
      span.end();
      return emit();
    });
  };
  try {
    const call = { operation: 'look_up', arguments: {}, id: 'own', callback_url: at.url, group_id: 'thr_own' };
    const headers = { 'content-type': 'application/json', traceparent: given };
    const answer = await fetch(`${tools.url}/invoke`, { method: 'POST', headers, body: JSON.stringify(call) });
    expect(answer.status).toBe(200);
  } finally {
    Server.prototype.emit = plain;
  }
  const run = await spanOf('run_tool look_up', 'thr_own');
  const own = exporter.getFinishedSpans().find(({ name }) => name === 'POST /invoke');
  expect(own?.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(own?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  expect(run.parentSpanContext?.spanId).toBe(own?.spanContext().spanId);
});

it('R1 a call without a traceparent begins a trace', async () => {
  const call = { operation: 'look_up', arguments: {}, id: 'none', callback_url: at.url, group_id: 'thr_none' };
  const headers = { 'content-type': 'application/json', traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` };
  await fetch(`${tools.url}/invoke`, { method: 'POST', headers, body: JSON.stringify(call) });
  expect((await spanOf('run_tool look_up', 'thr_none')).parentSpanContext).toBeUndefined();
});
