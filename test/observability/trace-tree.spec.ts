// How a trace of the store is shown in a terminal.
import { expect, it } from 'vitest';
import { type JaegerTrace, traceTree } from '../../deploy/observability/src/trace-tree.ts';

type Span = JaegerTrace['spans'][number];

const traceID = 'a'.repeat(32);
const startMs = Date.parse('2026-03-01T09:00:00.000Z');

const span = (spanID: string, parent: string | null, name: string, from: number, more: Partial<Span> = {}): Span => ({
  ...{ spanID, operationName: name, processID: 'p1', startTime: (startMs + from) * 1_000, duration: 2_000, tags: [] },
  references: parent === null ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parent }],
  ...more,
});

const processes = { p1: { serviceName: 'dormouse-thread-processor' }, p2: { serviceName: 'of-its-own' } };

it('T2 stands as a tree, in the order of time', () => {
  const spans = [
    span('3', '2', 'execute_tool weather', 7, { tags: [{ key: 'error.type', value: 'DENIED' }] }),
    span('1', null, 'POST /v1/threads/{id}/messages', 0, { duration: 15_000 }),
    span('2', '1', 'invoke_agent assistant', 1, { processID: 'p2' }),
    span('4', '2', 'chat demo', 3),
    span('5', '9', 'chat of a trace that came in part', 20),
  ];
  expect(traceTree({ traceID, spans, processes })).toEqual([
    `trace ${traceID}  2026-03-01T09:00:00.000Z  22 ms`,
    'POST /v1/threads/{id}/messages              thread-processor     +0 ms    15 ms',
    '  invoke_agent assistant                    of-its-own           +1 ms     2 ms',
    '    chat demo                               thread-processor     +3 ms     2 ms',
    '    execute_tool weather DENIED             thread-processor     +7 ms     2 ms',
    'chat of a trace that came in part           thread-processor    +20 ms     2 ms',
  ]);
});

it('does not take a link for a parent', () => {
  const linked = { references: [{ refType: 'FOLLOWS_FROM', traceID: 'b'.repeat(32), spanID: '1' }] };
  const [, first, second] = traceTree({
    traceID,
    spans: [span('1', null, 'chat one', 0), span('2', null, 'chat two', 1, linked)],
    processes,
  });
  expect([first, second]).toEqual([expect.stringMatching(/^chat one/), expect.stringMatching(/^chat two/)]);
});

it('T1 fits 80 columns, however deep and long', () => {
  const chain = Array.from({ length: 40 }, (_, n) => span(`${n}`, n === 0 ? null : `${n - 1}`, 'x'.repeat(90), n));
  for (const line of traceTree({ traceID, spans: chain, processes })) expect(line.length).toBeLessThanOrEqual(80);
});
