import { describe, expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

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
});
