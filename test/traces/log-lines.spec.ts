// What a process logs at info, with tracing on: every line is one JSON object with the fields of the catalogue.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openThread, say, untilStatus } from '../e2e/conversation.ts';
import { cleanUp, type Json, startStandalone } from '../e2e/standalone-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

let receiver: OtlpReceiver;
let lines: readonly Json[];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  const at = await startStandalone({
    env: {
      DORMOUSE_LOG_LEVEL: 'info',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
  });
  const thread = await openThread(at);
  await untilStatus(at, thread, 'idle');
  await say(at, thread, 'What is the weather in Oslo?');
  await at.stop();
  lines = at
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
});
afterAll(async () => {
  await receiver.close();
  await cleanUp();
});

it('has who, when and what on every line', () => {
  expect(lines.map(({ event }) => event)).toEqual(expect.arrayContaining(['ready', 'request', 'tool_call_dispatched']));
  const [{ instance, version }] = lines;
  for (const line of lines) {
    expect(line).toMatchObject({ level: expect.stringMatching(/^(?:info|warn|error)$/), service: 'standalone' });
    expect(line).toMatchObject({ instance, version, time: expect.stringMatching(/Z$/) });
  }
});

it('names requests by their routes, and by their traces', () => {
  const requests = lines.filter(({ event }) => event === 'request');
  const message = requests.find(({ route }) => route === '/v1/threads/{id}/messages');
  expect(message).toMatchObject({ method: 'POST', status: 200, ms: expect.any(Number) });
  const span = receiver.spans.find(({ name }) => name === 'POST /v1/threads/{id}/messages');
  expect(message).toMatchObject({ trace_id: span?.traceId, span_id: span?.spanId });
  const about = { tenant: 'local', thread: span?.attributes['dormouse.thread'] };
  expect(message).toMatchObject(about);
  const dispatched = lines.find(({ event }) => event === 'tool_call_dispatched');
  expect(dispatched).toMatchObject({
    ...about,
    trace_id: span?.traceId,
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(dispatched.span_id).not.toBe(span?.spanId);
  expect(requests.some(({ route }) => route === '/callback/{token}')).toBe(true);
  expect(JSON.stringify(lines)).not.toMatch(/\/callback\/[^{]|Oslo/);
});
