import type { Steps } from '@dormouse/json';
import { expect, it } from 'vitest';
import { inTurns, inTurnsIf } from './in-turns.ts';

interface Diary {
  readonly lines: string[];
  readonly work: (name: string, steps: number) => Steps<string>;
  readonly end: () => void;
}

/** Writes down which work took a step, and in which tick of the event loop. */
function diary(): Diary {
  const lines: string[] = [];
  let turn = 0;
  let next = setImmediate(function passed() {
    turn++;
    next = setImmediate(passed);
  });
  function* work(name: string, steps: number): Steps<string> {
    for (let step = 1; step < steps; step++) {
      lines.push(`${turn} ${name}`);
      yield;
    }
    lines.push(`${turn} ${name}`);
    return name;
  }
  return { lines, work, end: () => clearImmediate(next) };
}

it('T1 takes one step per turn of the event loop, and the pieces of work go round', async () => {
  const { lines, work, end } = diary();
  const [a, b] = [inTurns(work('a', 4)), inTurns(work('b', 2))];
  expect(lines).toEqual([]);
  expect(await b).toBe('b');
  const c = inTurns(work('c', 2));
  expect(await Promise.all([a, c])).toEqual(['a', 'c']);
  end();
  expect(lines.map((line) => line.split(' ')[1]).join('')).toBe('ababacac');
  expect(new Set(lines.map((line) => line.split(' ')[0])).size).toBe(lines.length);
});

it('what one of them throws is its own', async () => {
  function* broken(): Steps<never> {
    yield;
    throw new RangeError('broken');
  }
  const { work, end } = diary();
  const [a, b] = [inTurns(broken()), inTurns(work('b', 5))];
  await expect(a).rejects.toThrow(RangeError);
  expect(await b).toBe('b');
  end();
});

it('what is short is done at once', async () => {
  const { lines, work, end } = diary();
  expect(inTurnsIf(false, work('a', 3))).toBe('a');
  expect(lines).toHaveLength(3);
  expect(await inTurnsIf(true, work('b', 3))).toBe('b');
  end();
});
