import { describe, expect, it } from 'vitest';
import { toolsetChange } from './toolset-change.ts';

const manifest = (...names: readonly string[]) => ({ tools: names.map((name) => ({ name })) });

describe('the change of a toolset', () => {
  it.each([
    [['one'], manifest('one', 'two', 'three'), 'added two, three'],
    [['one', 'two'], manifest('two'), 'removed one'],
    [['one'], manifest('two'), 'added two; removed one'],
    [['one'], manifest('one'), 'the same names, defined otherwise'],
    [['one'], { tools: [null, 7, { name: 8 }, { name: 'two' }] }, 'added two; removed one'],
    [['one'], null, 'removed one'],
    [[], { tools: 'none' }, 'the same names, defined otherwise'],
  ])('from %j to %j is %s', (loaded, now, words) => expect(toolsetChange(loaded, now)).toBe(words));
});
