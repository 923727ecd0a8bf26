import { parseTraceparent, type Span, traceparentOf, type WorkTopics, tenantId } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { processed, workBusWithSpans } from './bus-spans.ts';
import { beginning } from './span-ids.ts';

const spans: Span[] = [];
const tracer = { isOn: true, isSampled: () => true, record: (span: Span) => void spans.push(span) };
const tracing = { tracer, wallNow: () => 5, turnMsMax: 1 };
const owed = (trace: string | null): WorkTopics['dispatches'] => ({
  ...{ tenant: tenantId('acme'), thread: 'thr_1', at: 1, trace },
  effect: { do: 'WithdrawCall', id: 'w:call_1', toolCallId: 'call_1' },
});

it.each([
  ['the span of its cause', { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true }, 'b'.repeat(16)],
  ['nothing, in a trace that it begins', beginning('c'.repeat(32), true), null],
])('B1 a record is below %s, and its handling below it', async (_what, cause, parentId) => {
  spans.length = 0;
  const sent: (string | null)[] = [];
  const bus = workBusWithSpans(
    {
      publish: async (_topic, { trace }) => {
        sent.push(trace);
        return { handled: null };
      },
      consume: () => Promise.reject(new Error('nothing is consumed')),
    },
    tracing,
  );
  await bus.publish('dispatches', owed(traceparentOf(cause)));
  await processed(tracing, 'dispatches', owed(sent[0] ?? null), async () => {});
  expect(spans).toMatchObject([
    { name: 'send dispatches', parentId, context: { traceId: cause.traceId } },
    { name: 'process dispatches', parentId: parseTraceparent(sent[0])?.spanId, context: { traceId: cause.traceId } },
  ]);
});

it('B1 a record without a trace passes as it is', async () => {
  spans.length = 0;
  await processed(tracing, 'dispatches', owed(null), async ({ trace }) => expect(trace).toBeNull());
  expect(spans).toEqual([]);
});
