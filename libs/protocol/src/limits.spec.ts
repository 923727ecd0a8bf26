import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitsBytes, utf8Bytes } from './limits.ts';

describe('limits', () => {
  it('bytes are those of UTF-8', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud800', '\udc00a'),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const bytes = new TextEncoder().encode(text).length;
        expect(utf8Bytes(text)).toBe(bytes);
        expect(fitsBytes(text, bytes)).toBe(true);
        if (bytes > 0) expect(fitsBytes(text, bytes - 1)).toBe(false);
      }),
    );
  });
});
