import { describe, expect, it } from 'vitest';
import { parseDuration, showDuration } from './duration.ts';

describe('a span of time', () => {
  it.each([
    ['+3d', 259_200_000],
    ['2h30m', 9_000_000],
    ['1.5s', 1_500],
    ['250ms', 250],
    ['1w', 604_800_000],
    ['0', 0],
  ])('%s is understood', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '3', 'd', '-3d', '3x', '3 d', 'tomorrow'])('"%s" is not', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [1_550, '1.5s'],
    [59_999, '59.9s'],
    [185_000, '3m05s'],
    [9_000_000, '2h30m'],
    [273_600_000, '3d04h'],
  ])('%i ms is shown as %s', (ms, text) => {
    expect(showDuration(ms)).toBe(text);
  });
});
