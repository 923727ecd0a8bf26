import { expect, it } from 'vitest';
import { inStep, together } from './together.ts';

it('W1 W2 what arrives in one turn of the event loop goes on in that turn, in its order, step by step', async () => {
  const told: string[] = [];
  const thread = async (name: string): Promise<void> => {
    await new Promise<void>((resolve) => together(resolve));
    told.push(`${name} first`);
    await inStep;
    told.push(`${name} second`);
  };
  const both = Promise.all([thread('a'), thread('b')]);
  setImmediate(() => told.push('next'));
  await Promise.resolve();
  expect(told).toEqual([]);
  await both;
  expect(told).toEqual(['a first', 'b first', 'a second', 'b second']);
  await new Promise(setImmediate);
  expect(told.at(-1)).toBe('next');
});

it('what comes while the others go on is taken with the next', async () => {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    together(() => {
      told.push('first');
      together(() => {
        told.push('later');
        resolve();
      });
    });
    together(() => told.push('second'));
  });
  expect(told).toEqual(['first', 'second', 'later']);
});
