import { type ModelMessage, text } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { TranscriptWindow } from './transcript-window.ts';

const said = (words: string): ModelMessage => ({ role: 'user', content: [text(words)] });
const words = (messages: readonly ModelMessage[] | null): string | null =>
  messages
    ?.map((one) => (one.role === 'user' && one.content[0] && 'text' in one.content[0] ? one.content[0].text : '?'))
    .join('') ?? null;

function filled(count: number, bytesMax: number): TranscriptWindow {
  const window = new TranscriptWindow(0, bytesMax);
  for (let ordinal = 0; ordinal < count; ordinal++) window.append([said(String(ordinal % 10))]);
  return window;
}

describe('a transcript window', () => {
  it('I-15 gives a prompt the same messages however many are appended later', () => {
    const window = filled(3, 100_000);
    const before = words(window.slice(0, 3));
    window.append([said('x')]);
    expect(words(window.slice(0, 3))).toBe(before);
    expect(words(window.slice(1, 4))).toBe('12x');
  });

  it('I-25 keeps a bounded part of a thread of any age, the newest', () => {
    const window = filled(10_000, 10_000);
    expect(window.bytes).toBeLessThanOrEqual(10_000);
    expect(words(window.slice(9_995, 10_000))).toBe('56789');
    expect(window.slice(0, 10_000)).toBeNull();
    expect(window.slice(window.from, window.from - 1)).toBeNull(); // ends before what is kept
  });

  it('takes older messages back when they fit and end where it begins', () => {
    const window = new TranscriptWindow(2, 2_000);
    window.append([said('c')]);
    window.restore([said('a')]); // does not reach the window
    expect(window.from).toBe(2);
    window.restore([said('a'), said('b'.repeat(5_000))]); // does not fit
    expect(window.from).toBe(2);
    window.restore([said('a'), said('b')]);
    expect(words(window.slice(0, 3))).toBe('abc');
  });

  it('T3 gives the newest that fit by count and by weight, of those that are kept', () => {
    const window = new TranscriptWindow(2, 100_000);
    window.append([said('c'), said('d'.repeat(5_000)), said('e'), said('f')]);
    expect(words(window.newest(6, 2, 100_000))).toBe('ef');
    expect(words(window.newest(5, 2, 1_000))).toBe('e');
    expect(words(window.newest(4, 9, 100_000))).toBe(`c${'d'.repeat(5_000)}`);
    expect([window.newest(2, 9, 100_000), window.newest(1, 9, 100_000)]).toEqual([[], []]);
    expect(words(window.newest(99, 1, 100_000))).toBe('f');
  });
});
