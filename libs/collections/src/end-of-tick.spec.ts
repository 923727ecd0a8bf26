import { expect, it } from 'vitest';
import { atEndOfTick } from './end-of-tick.ts';

it('W1 what arrives in one turn of the event loop goes on in that turn, in its order', async () => {
  const told: string[] = [];
  const thread = async (name: string): Promise<void> => {
    await new Promise<void>((resolve) => atEndOfTick(resolve));
    told.push(name);
  };
  const both = Promise.all([thread('a'), thread('b')]);
  setImmediate(() => told.push('next'));
  await Promise.resolve();
  expect(told).toEqual([]);
  await both;
  expect(told).toEqual(['a', 'b']);
  await new Promise(setImmediate);
  expect(told.at(-1)).toBe('next');
});

it('what comes while the others go on is taken with the next', async () => {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    atEndOfTick(() => {
      told.push('first');
      atEndOfTick(() => {
        told.push('later');
        resolve();
      });
    });
    atEndOfTick(() => told.push('second'));
  });
  expect(told).toEqual(['first', 'second', 'later']);
});
