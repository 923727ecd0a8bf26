import type { ModelMessage } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { heapBytesOf } from '../heap-weight.ts';
import { Histories } from './histories.ts';

const history = (characters: number): readonly ModelMessage[] => [
  { role: 'user', content: [{ type: 'text', text: 'x'.repeat(characters) }] },
];
const size = heapBytesOf(history(1_000));

/** A budget for two of them, and what was read of it. */
function threads(bytesMax = 2 * size): {
  readonly ask: (name: string, characters?: number) => Promise<number>;
  reads: string[];
  kept: Histories;
} {
  const kept = new Histories(bytesMax);
  const reads: string[] = [];
  return {
    reads,
    kept,
    ask: async (name, characters = 1_000) => {
      const found = await kept.get(name, async () => {
        reads.push(name);
        return history(characters);
      });
      return found.length;
    },
  };
}

describe('inherited histories', () => {
  it('are read once, and those used least lately go when the budget is spent', async () => {
    const { ask, reads, kept } = threads();
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(name);
    expect(reads).toEqual(['a', 'b', 'c', 'b']);
    expect(kept.bytes).toBe(2 * size);
  });

  it('are not kept when one alone is above the budget, and drive nobody out', async () => {
    const { ask, reads } = threads();
    for (const name of ['a', 'huge', 'huge', 'a']) await ask(name, name === 'huge' ? 10_000 : 1_000);
    expect(reads).toEqual(['a', 'huge', 'huge']);
  });

  it('are read once for all who ask at the same time', async () => {
    const { ask, reads } = threads();
    expect(await Promise.all([ask('a'), ask('a'), ask('a')])).toEqual([1, 1, 1]);
    expect(reads).toEqual(['a']);
  });

  it('that could not be read are read again', async () => {
    const kept = new Histories(2 * size);
    await expect(kept.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(await kept.get('a', () => Promise.resolve(history(1)))).toHaveLength(1);
  });
});
