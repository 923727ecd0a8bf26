import { expect, it } from 'vitest';
import { createPasteReader, pastedText } from './pasted-input.ts';

const start = '\u001b[200~';
const end = '\u001b[201~';

it('a paste of several lines is one line of input, from which its text comes back', () => {
  const read = createPasteReader().read(`a${start}one\rtwo\r\nthree\n${end}b\r`);
  expect(read).toBe('aone␤two␤three␤b\r');
  expect(pastedText('one␤two')).toBe('one\ntwo');
});

it('a paste may arrive in pieces of any length', () => {
  const text = `x${start}one\rtwo${end}\u001b[A\r`;
  for (let size = 1; size <= text.length; size += 1) {
    const reader = createPasteReader();
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    // An escape that comes alone is a key at once: cuts right behind one are left out.
    if (pieces.some((piece) => piece.endsWith('\u001b'))) continue;
    expect(pieces.map((piece) => reader.read(piece)).join('')).toBe('xone␤two\u001b[A\r');
  }
});

it('keys pass through, and what a paste would do to the line does not', () => {
  const reader = createPasteReader();
  expect(reader.read('\u001b')).toBe('\u001b');
  expect(reader.read('\u001b[D\u0003')).toBe('\u001b[D\u0003');
  expect(reader.read(`${start}a\u0003\u001b[D\tb${end}`)).toBe('a[D  b');
});
