import { expect, it } from 'vitest';
import { longestPauses } from './pauses.ts';

const phases = [
  { name: 'before', from: 0, until: 100 },
  { name: 'during', from: 100, until: 200 },
  { name: 'after', from: 200, until: 300 },
];

it('a time without the end of a turn counts where most of it is', () => {
  const ends = [290, 0, 40, 95, 160, 195, 215, 230];
  expect(longestPauses(ends, phases)).toEqual({ before: 55, during: 65, after: 60 });
});

it('a phase without two ends of turns has no pause, and its neighbour the whole one', () => {
  expect(longestPauses([10, 290], phases)).toEqual({ before: 0, during: 280, after: 0 });
  expect(longestPauses([], phases)).toEqual({ before: 0, during: 0, after: 0 });
});
