import { describe, expect, it } from 'vitest';
import { type BatchExporter, createSpanQueue, positiveOf, spansMaxOf } from './span-queue.ts';

type Result = Parameters<Parameters<BatchExporter['export']>[1]>[0];

const spanWith = (traceFlags: number, attributes: Readonly<Record<string, unknown>> = {}) => ({
  spanContext: () => ({ traceFlags }),
  attributes,
});
const sampled = spanWith(1);

/** A queue for two spans, and what became of them. */
function given() {
  const seen = { dropped: 0, full: [] as number[], results: [] as Result[], given: 0 };
  const sending: ((result: Result) => void)[] = [];
  const exporter: BatchExporter = { export: (_spans, exported) => void sending.push(exported) };
  const queue = createSpanQueue(2, { add: (count) => (seen.dropped += count) }, (max) => seen.full.push(max));
  const counting = queue.counting(exporter);
  const processor = queue.bounding({ onEnd: (_span: ReturnType<typeof spanWith>) => void (seen.given += 1) });
  return {
    seen,
    /** Ours: asks for room before it is made. */
    record: () => queue.hasRoom() && (processor.onEnd(spanWith(1)), true),
    /** Of another author in this process. */
    end: (traceFlags = 1) => processor.onEnd(spanWith(traceFlags)),
    queue,
    processor,
    send: (...spans: ReturnType<typeof spanWith>[]) => counting.export(spans, (result) => seen.results.push(result)),
    answer: (result: Result) => sending.shift()?.(result),
  };
}

describe('the queue of spans', () => {
  it('Q1 has room for so many, and again when a batch is on its way', () => {
    const { record, send, seen } = given();
    expect([record(), record(), record()]).toEqual([true, true, false]);
    send(sampled, sampled);
    expect([record(), seen.dropped]).toEqual([true, 1]);
  });

  it('Q2 counts a span for which there is no room, and each span of a batch that failed', () => {
    const { record, send, answer, seen } = given();
    for (let nth = 0; nth < 5; nth++) record();
    expect(seen.dropped).toBe(3);
    send(sampled, sampled);
    answer({ code: 1, error: new Error('the collector is away') });
    expect([seen.dropped, seen.results[0]?.error?.message]).toEqual([5, 'the collector is away']);
    record();
    send(sampled);
    answer({ code: 0 });
    expect(seen.dropped).toBe(5);
  });

  it('Q1 takes the spans of other authors in, which ask for no room', () => {
    const { record, end, send, seen } = given();
    for (let turn = 0; turn < 3; turn++) {
      expect([record(), end()]).toEqual([true, undefined]);
      send(sampled, sampled);
    }
    end();
    end();
    end();
    expect([record(), seen.given, seen.dropped]).toEqual([false, 8, 2]);
  });

  it('Q1 leaves out a span that is not sampled', () => {
    const { end, record, seen } = given();
    end(0);
    end(0);
    expect([record(), record(), seen.given, seen.dropped]).toEqual([true, true, 2, 0]);
  });

  it('Q3 has room for some long texts at a time, until they were sent', () => {
    const { queue, processor, send, answer } = given();
    const words = { name: 'chat', long: 'x'.repeat(3_000_000), short: 'y' };
    expect(queue.fitting(words)).toBe(words);
    const first = spanWith(1, words);
    processor.onEnd(first);
    expect(queue.fitting(words)).toEqual({ name: 'chat', short: 'y' });
    const short = { name: 'chat', text: 'z'.repeat(1_000) };
    expect(queue.fitting(short)).toBe(short);
    send(first);
    expect(queue.fitting(words)).not.toHaveProperty('long'); // on its way
    answer({ code: 0 });
    expect(queue.fitting(words)).toBe(words);
  });

  it('says once that it is full, until it had room again', () => {
    const { record, send, seen } = given();
    for (let nth = 0; nth < 9; nth++) record();
    expect(seen.full).toEqual([2]);
    send(sampled, sampled);
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
    expect(positiveOf(text)).toBe(max === 2_048 ? undefined : max);
  });
});
