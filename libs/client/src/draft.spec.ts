import { describe, expect, it } from 'vitest';
import type { Delta } from './follow.ts';
import { type Draft, withDelta } from './draft.ts';

const delta = (given: Partial<Delta>): Delta => ({
  ...{ completion_id: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: '' },
  ...given,
});
const after = (...deltas: readonly Partial<Delta>[]): readonly Draft[] =>
  deltas.reduce<readonly Draft[]>((drafts, given) => withDelta(drafts, delta(given)), []);

describe('a draft', () => {
  it('grows by what is new, and says nothing twice (D2)', () => {
    expect(after({ text: 'one ' }, { offset: 4, text: 'two' }, { offset: 2, text: 'e two three' })).toMatchObject([
      { text: 'one two three' },
    ]);
  });

  it('keeps text, reasoning and the input of each call apart', () => {
    const deltas = [
      { text: 'said' },
      { kind: 'reasoning', text: 'thought' },
      { kind: 'tool_input', index: 1, text: '{}' },
    ] as const;
    expect(after(...deltas)).toMatchObject([{ text: 'said', reasoning: 'thought', toolInputs: ['', '{}'] }]);
  });

  it('is replaced by a new attempt, and not changed by an old one (D1)', () => {
    expect(after({ text: 'first' }, { attempt: 2, text: 'second' }, { offset: 5, text: ' again' })).toMatchObject([
      { attempt: 2, text: 'second' },
    ]);
  });
});
