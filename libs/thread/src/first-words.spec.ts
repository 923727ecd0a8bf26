import { describe, expect, it } from 'vitest';
import { firstWords } from './first-words.ts';

const words = (...texts: readonly string[]): string | null => firstWords(texts.map((text) => ({ type: 'text', text })));

describe('the first words of a message', () => {
  it('are one line, with single spaces', () => {
    expect(words('  What is\n\n the\tweather \u0000\u001b in\r\nOslo? ')).toBe('What is the weather in Oslo?');
    expect(words('one', 'two')).toBe('one two');
    expect(words('a\u202Eb')).toBe('a b');
  });

  it('are 120 characters, none of them cut in half', () => {
    expect(words('x'.repeat(500))).toBe('x'.repeat(120));
    expect(words('🐢'.repeat(500))).toBe('🐢'.repeat(120));
    expect(words(`${'x'.repeat(119)} y`)).toBe('x'.repeat(119));
    expect(words(`${'x'.repeat(4_095)}🐢`)?.isWellFormed()).toBe(true);
  });

  it('are none where there are no words', () => {
    expect(words(' \n\u0007 ')).toBeNull();
    expect(firstWords([{ type: 'image', mediaType: 'image/png', data: 'AA==' }])).toBeNull();
    expect(firstWords([{ type: 'text', blob: 'ab', bytes: 5, preview: 'Long ago' }])).toBe('Long ago');
  });
});
