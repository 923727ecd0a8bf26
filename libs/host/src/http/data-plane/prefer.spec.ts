import { describe, expect, it } from 'vitest';
import { preferredWaitMs } from './prefer.ts';

describe('Prefer', () => {
  it.each([
    [undefined, null],
    ['respond-async', null],
    ['wait=30', 30_000],
    ['respond-async, wait = "5"', 5_000],
    ['wait=0', 0],
    ['wait=99999', 120_000],
    ['await=30', null],
    ['wait=soon', null],
  ])('%s waits %s', (header, milliseconds) => {
    expect(preferredWaitMs(header)).toBe(milliseconds);
  });
});
