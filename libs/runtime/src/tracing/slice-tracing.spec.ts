import { createManualClock } from '@dormouse/adapter-memory';
import { noTracer } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createSliceTracing } from './slice-tracing.ts';
import { noTraceState, type TraceState } from './trace-state.ts';

const unread = () => Promise.reject(new Error('nothing is read with tracing off'));

it('S5 with tracing off nothing is kept of the time when it was on', () => {
  const off = createSliceTracing({
    ...{ tracer: noTracer, clock: createManualClock(), turnMsMax: 1, wallNow: () => 0 },
    ...{ agentOf: unread, toolsOf: unread },
  });
  const request = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true };
  const before: TraceState = { ...noTraceState, turn: { request, since: 1 }, open: { call_1: { context: request } } };
  expect(off.read(before, {} as never)).toBe(noTraceState);
  expect(off.fold(before, {} as never)).toEqual({ state: noTraceState, spans: [] });
});
