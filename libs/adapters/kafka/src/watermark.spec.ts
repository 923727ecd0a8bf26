import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Watermark } from './watermark.ts';

/** Delivers 0..count-1 and finishes some of them, in any order. */
function worked(count: number, finished: readonly number[]): Watermark {
  const watermark = new Watermark(0, null);
  for (let offset = 0; offset < count; offset += 1) watermark.deliver(offset);
  for (const offset of finished) watermark.finish(offset);
  return watermark;
}

const work = fc
  .integer({ min: 1, max: 60 })
  .chain((count) => fc.tuple(fc.constant(count), fc.shuffledSubarray([...Array(count).keys()])));

describe('the low watermark', () => {
  it('is the first offset that is not finished (W1)', () => {
    fc.assert(
      fc.property(work, ([count, finished]) => {
        const open = [...Array(count).keys()].filter((offset) => !finished.includes(offset));
        expect(worked(count, finished).low).toBe(open[0] ?? count);
      }),
    );
  });

  it('with its metadata tells the next owner exactly what is not finished (W2)', () => {
    fc.assert(
      fc.property(work, ([count, finished]) => {
        const { offset, metadata } = worked(count, finished).commit();
        const next = new Watermark(offset, metadata);
        const delivered: number[] = [];
        for (let at = offset; at < count; at += 1) if (next.deliver(at)) delivered.push(at);
        expect(delivered).toEqual([...Array(count).keys()].filter((at) => !finished.includes(at)));
      }),
    );
  });

  it('forgets nothing over any number of owners that each finish something (W1, W2)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(39)), { minLength: 1, maxLength: 8 }), (owners) => {
        const finished = new Set<number>();
        let committed = { offset: 0, metadata: '' };
        for (const finishes of owners) {
          const watermark = new Watermark(committed.offset, committed.metadata);
          const delivered = new Set<number>();
          for (let at = committed.offset; at < 40; at += 1) if (watermark.deliver(at)) delivered.add(at);
          for (const at of delivered) expect(finished.has(at)).toBe(false);
          for (const at of finishes) if (watermark.finish(at)) finished.add(at);
          committed = watermark.commit();
          for (let at = 0; at < committed.offset; at += 1) expect(finished.has(at)).toBe(true);
        }
      }),
    );
  });

  it('delivers an offset once, however often it is read', () => {
    const watermark = new Watermark(5, null);
    expect([4, 5, 5, 7, 6].map((offset) => watermark.deliver(offset))).toEqual([false, true, false, true, false]);
  });

  it('keeps its metadata below 4 KiB; what does not fit is delivered again (W2)', () => {
    const finished = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const { offset, metadata } = worked(50_001, finished).commit();
    expect(offset).toBe(0);
    expect(metadata.length).toBeLessThan(4_096);
    const next = new Watermark(offset, metadata);
    expect(next.deliver(0)).toBe(true);
    expect(next.deliver(1)).toBe(false);
    expect(next.deliver(40_000)).toBe(true);
  });

  it('believes no metadata but its own (W3)', () => {
    for (const metadata of [null, '', 'somebody else', 'd1:']) expect(new Watermark(3, metadata).deliver(3)).toBe(true);
  });

  it('tells the next owner up to where everything was delivered before, as far as the metadata says', () => {
    const { offset, metadata } = worked(10, [0, 1, 4, 7]).commit();
    expect(offset).toBe(2);
    expect(new Watermark(offset, metadata).deliveredBefore).toBe(7);
    expect(new Watermark(5, null).deliveredBefore).toBe(4);
  });
});
