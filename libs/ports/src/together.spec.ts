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

it('W3 a crowd goes on in several turns of the event loop, in its order, and others have theirs between', async () => {
  const told: (number | string)[] = [];
  const all = Array.from({ length: 60 }, (_, index) => index);
  const over = Promise.all(
    all.map((index) => new Promise<void>((resolve) => together(() => (told.push(index), resolve())))),
  );
  setImmediate(() => told.push('another'));
  await over;
  expect(told.indexOf('another')).toBe(32);
  expect(told.filter((each) => each !== 'another')).toEqual(all);
});
