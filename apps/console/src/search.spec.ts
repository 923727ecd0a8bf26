import { describe, expect, it } from 'vitest';
import { threadSearch, usageSearch } from './search.ts';

describe('what an address carries', () => {
  it.each([
    [7, 7],
    ['90', 90],
    [400, 400],
    [0, undefined],
    [401, undefined],
    [Number.MAX_SAFE_INTEGER, undefined],
    [-1, undefined],
    ['junk', undefined],
  ])('is a number of days that usage can be asked for: %j is %j', (days, taken) => {
    expect(usageSearch({ days })).toEqual({ days: taken });
  });

  it('is left out where it is not understood', () => {
    expect(threadSearch({ p: -1, at: 1.5, tab: 'nowhere', beside: {} })).toEqual({});
  });
});
