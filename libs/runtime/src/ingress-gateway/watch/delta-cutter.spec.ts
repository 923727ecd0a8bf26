import type { Delta } from '@dormouse/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeltaCutter } from './delta-cutter.ts';

const delta = (offset: number, text: string, attempt = 1, completionId = 'cmp_1'): Delta => ({
  completionId,
  attempt,
  offset,
  kind: 'text',
  index: 0,
  text,
});

describe('the cutter of deltas', () => {
  it('gives every character once, however "so far" and live overlap', () => {
    const text = 'The quick brown fox jumps over the lazy dog';
    const piece = fc.tuple(fc.nat(text.length), fc.nat(text.length));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const cutter = new DeltaCutter();
        let shown = '';
        const sorted = pieces.map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const).toSorted(([a], [b]) => a - b);
        for (const [start, end] of sorted) {
          if (start > shown.length) continue; // a stream has no gaps
          const cut = cutter.cut(delta(start, text.slice(start, end)));
          if (cut === null) continue;
          expect(cut.offset).toBe(shown.length);
          shown += cut.text;
        }
        expect(text.startsWith(shown)).toBe(true);
      }),
    );
  });

  it('starts over with a new attempt, and never shows the old one again', () => {
    const cutter = new DeltaCutter();
    expect(cutter.cut(delta(0, 'first'))?.text).toBe('first');
    expect(cutter.cut(delta(0, 'second', 2))).toMatchObject({ text: 'second', attempt: 2 });
    expect(cutter.cut(delta(5, ' more', 1))).toBeNull();
    expect(cutter.cut(delta(0, 'next', 1, 'cmp_2'))?.text).toBe('next');
  });
});
