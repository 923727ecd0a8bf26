import { describe, expect, it } from 'vitest';
import { together } from './together.ts';

describe('questions that go together', () => {
  it('the first goes alone, those that come meanwhile together, each with its own answer', async () => {
    const groups: number[][] = [];
    const ask = together<number, string>(async (items) => {
      groups.push([...items]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return items.map((item) => `answer ${item}`);
    }, 3);
    expect(await Promise.all([1, 2, 3, 4, 5].map((item) => ask(item)))).toEqual(
      [1, 2, 3, 4, 5].map((item) => `answer ${item}`),
    );
    expect(groups).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('a group that fails fails for all of it, and the next is asked all the same', async () => {
    let asked = 0;
    const ask = together<number, number>(async (items) => {
      asked += 1;
      await Promise.resolve();
      if (asked === 1) throw new Error('away');
      return items;
    }, 10);
    const [first, second] = await Promise.allSettled([ask(1), ask(2)]);
    expect(first.status).toBe('rejected');
    expect(second).toEqual({ status: 'fulfilled', value: 2 });
  });
});
