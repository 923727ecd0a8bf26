import { describe, expect, it } from 'vitest';
import { stayAwake } from './awake-loop.ts';

const rounds = async (count: number): Promise<void> => {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('the loop that stays awake', () => {
  it('goes round until it is over, and asks no more then', async () => {
    let asked = 0;
    stayAwake(() => ++asked >= 3);
    await rounds(20);
    expect(asked).toBeLessThanOrEqual(3);
  });

  it('goes to sleep all the same when it is never over, and serves others until then', async () => {
    let asked = 0;
    stayAwake(() => {
      asked += 1;
      return false;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const then = asked;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toBe(then);
    expect(asked).toBeGreaterThan(0);
  });
});
