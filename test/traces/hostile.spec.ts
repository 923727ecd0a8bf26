// Contexts of strangers at the doors of the built standalone process.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp, type Standalone, startStandalone } from '../e2e/standalone-process.ts';
import { hostileTraceparents, knockWithForeignContext, knockWithHostileContexts } from './hostile-contexts.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

let receiver: OtlpReceiver;
let at: Standalone;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  at = await startStandalone({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
});
afterAll(async () => {
  await at.stop();
  await receiver.close();
  await cleanUp();
});

it('one that names no span changes nothing, in a message and in a callback', async () => {
  await knockWithHostileContexts(at, receiver);
});

it('one that names a span is the parent of a message, and a link of a callback', async () => {
  await knockWithForeignContext(at, receiver);
});

it('one that names no span is in no problem', async () => {
  for (const traceparent of hostileTraceparents) {
    const { json } = await at.request('GET', '/v1/threads/thr_x', undefined, { headers: { traceparent } });
    expect(json).toMatchObject({ code: 'NOT_FOUND', trace_id: null });
  }
});
