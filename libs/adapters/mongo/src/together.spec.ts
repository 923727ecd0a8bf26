import { describe, expect, it } from 'vitest';
import { together } from './together.ts';

describe('questions that go together', () => {
  it('those of one moment go together, then those that came meanwhile, each with its own answer', async () => {
    const groups: number[][] = [];
    const ask = together<number, string>(async (items) => {
      groups.push([...items]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return items.map((item) => `answer ${item}`);
    }, 3);
    const first = [1, 2].map((item) => ask(item));
    await expect.poll(() => groups.length).toBe(1);
    const later = [3, 4, 5, 6].map((item) => ask(item));
    expect(await Promise.all([...first, ...later])).toEqual([1, 2, 3, 4, 5, 6].map((item) => `answer ${item}`));
    expect(groups).toEqual([[1, 2], [3, 4, 5], [6]]);
  });

  it('a group that fails fails for all of it, and the next is asked all the same', async () => {
    let asked = 0;
    const ask = together<number, number>(async (items) => {
      asked += 1;
      await Promise.resolve();
      if (asked === 1) throw new Error('away');
      return items;
    }, 10);
    const failed = await Promise.allSettled([ask(1), ask(2)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask(3)).toBe(3);
  });
});
