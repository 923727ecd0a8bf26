import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['5', 5_000],
    [' 120 ', 120_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['999999999', 86_400_000],
    [['7', '8'], 7_000],
    ['', null],
    ['soon', null],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['2026-01-01', null],
    [undefined, null],
  ])('%j means %s', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms);
  });
});
