import { describe, expect, it } from 'vitest';
import { awakeMsMax, createAwakeLoop, triedAgainEvery, vainMax } from './awake-loop.ts';

const rounds = async (count: number): Promise<void> => {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('the loop that stays awake', () => {
  it('goes round until it is over, and asks no more then', async () => {
    let asked = 0;
    createAwakeLoop()(() => ++asked >= 3);
    await rounds(20);
    expect(asked).toBe(3);
  });

  it('goes to sleep all the same when it is never over, and serves others until then (A1)', async () => {
    let now = 0;
    let asked = 0;
    createAwakeLoop(() => now)(() => {
      asked += 1;
      return false;
    });
    await rounds(10);
    expect(asked).toBeGreaterThan(1);
    now += awakeMsMax;
    await rounds(2);
    const then = asked;
    await rounds(10);
    expect(asked).toBe(then);
  });

  it('gives a slow disk up, tries it now and then, and stays awake again when it is fast (A2)', async () => {
    let now = 0;
    let isFast = false;
    const stayAwake = createAwakeLoop(() => now);
    const isTried = async (): Promise<boolean> => {
      let asked = 0;
      stayAwake(() => {
        asked += 1;
        now += awakeMsMax;
        return isFast;
      });
      await rounds(3);
      return asked > 0;
    };
    const triedOf = async (times: number): Promise<number> => {
      let tried = 0;
      for (let time = 0; time < times; time++) if (await isTried()) tried += 1;
      return tried;
    };
    expect(await triedOf(vainMax)).toBe(vainMax);
    expect(await triedOf(3 * triedAgainEvery)).toBeLessThanOrEqual(4);
    isFast = true;
    expect(await triedOf(triedAgainEvery)).toBeGreaterThan(0);
    expect(await triedOf(10)).toBe(10);
  });
});
