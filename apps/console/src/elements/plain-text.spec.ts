import { describe, expect, it } from 'vitest';
import { quoted } from '../api/curl.ts';
import { plainLine, plainText } from './plain-text.ts';

describe('plain text', () => {
  it('shows what would turn text round or hide it by its number', () => {
    expect(plainText('a\u202Eb\u0000\u200Bc\nd\te')).toBe('a⟨202E⟩b⟨0000⟩⟨200B⟩c\nd\te');
  });

  it('is cut to one line', () => {
    expect(plainLine('a\n  b', 10)).toBe('a b');
    expect(plainLine('x'.repeat(50), 10)).toBe(`${'x'.repeat(9)}…`);
  });

  it('is one word for a shell, whatever it contains', () => {
    expect(quoted(`it's $(rm) \`x\``)).toBe(`'it'\\''s $(rm) \`x\`'`);
  });
});
