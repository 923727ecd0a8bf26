import { describe, expect, it } from 'vitest';
import { type BatchExporter, createSpanQueue, spansMaxOf } from './span-queue.ts';

type Result = Parameters<Parameters<BatchExporter['export']>[1]>[0];

/** A queue for two spans, and what became of them. */
function given() {
  const seen = { dropped: 0, full: [] as number[], results: [] as Result[] };
  const sending: ((result: Result) => void)[] = [];
  const exporter: BatchExporter = { export: (_spans, exported) => void sending.push(exported) };
  const queue = createSpanQueue(2, { add: (count) => (seen.dropped += count) }, (max) => seen.full.push(max));
  const counting = queue.counting(exporter);
  return {
    seen,
    record: () => queue.hasRoom() && (queue.take(), true),
    send: (...spans: string[]) => counting.export(spans, (result) => seen.results.push(result)),
    answer: (result: Result) => sending.shift()?.(result),
  };
}

describe('the queue of spans', () => {
  it('Q1 has room for so many, and again when a batch is on its way', () => {
    const { record, send, seen } = given();
    expect([record(), record(), record()]).toEqual([true, true, false]);
    send('one', 'two');
    expect([record(), seen.dropped]).toEqual([true, 1]);
  });

  it('Q2 counts a span for which there is no room, and each span of a batch that failed', () => {
    const { record, send, answer, seen } = given();
    for (let nth = 0; nth < 5; nth++) record();
    expect(seen.dropped).toBe(3);
    send('one', 'two');
    answer({ code: 1, error: new Error('the collector is away') });
    expect([seen.dropped, seen.results[0]?.error?.message]).toEqual([5, 'the collector is away']);
    record();
    send('three');
    answer({ code: 0 });
    expect(seen.dropped).toBe(5);
  });

  it('says once that it is full, until it had room again', () => {
    const { record, send, seen } = given();
    for (let nth = 0; nth < 9; nth++) record();
    expect(seen.full).toEqual([2]);
    send('one', 'two');
    for (let nth = 0; nth < 9; nth++) record();
    expect(seen.full).toEqual([2, 2]);
  });

  it.each([
    ['4', 4],
    [undefined, 2_048],
    ['', 2_048],
    ['many', 2_048],
    ['-1', 2_048],
  ])('takes its bound from the standard variable: %s', (text, max) => {
    expect(spansMaxOf(text)).toBe(max);
  });
});
