import { resultOf } from '@dormouse/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleaningText, cleanText } from './clean-text.ts';

describe('cleaning text', () => {
  it.each([
    ['plain ☃ 👩‍👩‍👧 text', 'plain ☃ 👩‍👩‍👧 text'],
    ['tab\tline\nreturn\r\n', 'tab\tline\nreturn\r\n'],
    ['nul\u0000 bell\u0007 back\b', 'nul bell back'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007text', 'text'],
    ['\u001b]8;;https://x.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['\u009b31mred \u007f\u0085', '31mred '],
    ['half \u001b[', 'half ['],
    ['Error: \u0000no', 'Error: no'],
  ])('R49 makes %j into %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it('R49 leaves no control character and takes nothing else when there is no escape', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = cleanText(text);
        expect(clean).not.toMatch(/(?![\t\n\r])\p{Cc}/u);
        if (!text.includes('\u001b')) expect(clean).toBe(text.replace(/(?![\t\n\r])\p{Cc}/gu, ''));
      }),
    );
  });

  it('R49 in steps of any size it is the same text', () => {
    const units = [
      '\u001b]',
      '\u001b\\',
      '\u001b[',
      '\u001b',
      ']',
      '[',
      '\\',
      '\u0007',
      '0',
      'm',
      ' ',
      'é',
      '\u0000',
      '\u0085',
    ];
    let different = 0;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...units), { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        (parts, step) => {
          const text = parts.join('');
          if (cleanText(text) !== text) different++;
          expect(resultOf(cleaningText(text, step))).toBe(cleanText(text));
        },
      ),
      { numRuns: 5_000 },
    );
    expect(different).toBeGreaterThan(1_000);
  });

  it('R49 is linear on any text', () => {
    const startedAt = performance.now();
    for (const part of ['\u001b[', '\u001b]', '\u001b[0;', '\u001b[ ', '\u0000']) cleanText(part.repeat(1_000_000));
    cleanText(`\u001b[${'0'.repeat(4_000_000)}`);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
