import { describe, expect, it } from 'vitest';
import { cleanJson, cleanLine, cleanText } from './clean-text.ts';

describe('text from elsewhere', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;owned\u0007text', 'text'],
    ['a hidden link', '\u001b]8;;http://evil\u0007click\u001b]8;;\u0007', 'click'],
    ['cursor moves and clears', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a bell, a backspace, a carriage return', 'safe\u0007\b\b\rhidden', 'safehidden'],
    ['eight-bit controls', 'a\u009b31mb', 'ab'],
    ['a lone escape', 'a\u001bb', 'ab'],
    ['reversed direction', 'abc\u202efdp.exe', 'abcfdp.exe'],
    ['invisible tags', 'a\u{e0041}\u{e0042}b', 'ab'],
  ])('R100 loses %s', (_what, given, expected) => {
    expect(cleanText(given)).toBe(expected);
  });

  it('keeps lines, tabs, accents and emoji', () => {
    expect(cleanText('Zürich 🌦\n\tليل\r\nend')).toBe('Zürich 🌦\n\tليل\nend');
  });

  it('becomes one line, cut where it is too long', () => {
    expect(cleanLine(' a\n\n b\u001b[1m ')).toBe('a b');
    expect(cleanLine('abcdef', 4)).toBe('abc…');
  });

  it('R100 is escaped in JSON, and nothing of it is lost', () => {
    const value = { text: '\u001b[31m\u009b\u202e\u{e0041}é' };
    const json = cleanJson(value);
    expect(json).not.toMatch(/\p{Cc}|[\u202e\u{e0041}]/u);
    expect(JSON.parse(json)).toEqual(value);
  });
});
