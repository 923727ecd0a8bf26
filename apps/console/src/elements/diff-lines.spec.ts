import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, patchLines } from './diff-lines.ts';

describe('the difference of two texts', () => {
  it('names what is added and removed', () => {
    expect(diffLines('a\nb\nc', 'a\nx\nc')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
    ]);
  });

  it('gives back both texts', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const all = diffLines(before.join('\n'), after.join('\n'));
        const without = (kind: string): readonly string[] =>
          all.filter((line) => line.kind !== kind).map(({ text }) => text);
        expect([without('added'), without('removed')]).toEqual([before, after]);
      }),
    );
  });

  it('reads a unified patch', () => {
    const patch = '--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same';
    expect(patchLines(patch).map(({ kind }) => kind)).toEqual(['place', 'removed', 'added', 'same']);
  });
});
