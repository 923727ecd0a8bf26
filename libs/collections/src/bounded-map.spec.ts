import { describe, expect, it } from 'vitest';
import { createBoundedMap } from './bounded-map.ts';

describe('kept', () => {
  const keys = ['a', 'b', 'c', 'd'];

  it('the value that was not used for longest goes first', () => {
    const kept = createBoundedMap<number>(3);
    for (const [value, key] of ['a', 'b', 'c'].entries()) kept.set(key, value);
    expect(kept.get('a')).toBe(0);
    kept.set('d', 3);
    expect(keys.map((key) => kept.get(key))).toEqual([0, undefined, 2, 3]);
  });

  it('heavy values push out as many others as they need, and nothing of what was dropped or replaced weighs', () => {
    const kept = createBoundedMap<string>(10, (text) => text.length);
    for (const key of keys) kept.set(key, 'xx');
    kept.set('a', 'xxxx'); // 4 + 2 + 2 + 2
    expect(keys.map((key) => kept.get(key))).toEqual(['xxxx', 'xx', 'xx', 'xx']);
    kept.drop('c');
    kept.drop('c');
    kept.set('e', 'xxxx'); // 12 with all of them
    expect([...keys, 'e'].map((key) => kept.get(key)?.length)).toEqual([undefined, 2, undefined, 2, 4]);
  });

  it('a value that is too heavy alone is given back and not kept', () => {
    const kept = createBoundedMap<string>(10, (text) => text.length);
    kept.set('c', 'xx');
    expect(kept.set('a', 'x'.repeat(11))).toHaveLength(11);
    expect([kept.get('a'), kept.get('c')]).toEqual([undefined, 'xx']);
    expect(kept.set('b', 'x'.repeat(10))).toHaveLength(10);
    expect(kept.get('b')).toHaveLength(10);
  });
});
