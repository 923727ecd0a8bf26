import { tenantId, type Commit, type Hint } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { hintsIn, textOf } from './hint-text.ts';

const commit: Commit = {
  v: 1,
  tenant: tenantId('acme'),
  thread: 't',
  version: 3,
  count: 1,
  inputs: ['c:1'],
  at: 5,
  nonce: 'n',
  trace: null,
  kid: null,
  prev: 'a',
  hash: 'b',
  body: '{"events":[{"text":"two\\nlines, \\"quoted\\" 漢"}],\n"effects":[]}',
};
const delta: Hint = {
  hint: 'delta',
  delta: { completionId: 'cmp_1', attempt: 1, offset: 0, kind: 'text', index: 0, text: 'a\nb' },
};
const view: Hint = { hint: 'view', view: { viewType: 'board', content: '{"a":1}' } };

describe('a message of hints', () => {
  it.each([
    ['a commit', [{ hint: 'committed', commit }]],
    ['what was said, and the commit that ends it', [delta, delta, { hint: 'committed', commit }]],
    ['what was said', [delta]],
    ['a view', [delta, view]],
  ] satisfies [string, Hint[]][])('comes out as it went in: %s', (_, hints) => {
    expect(hintsIn(textOf(hints))).toEqual(hints);
  });

  it.each(['', 'no JSON', '{"hint":"delta"}', '["a', '[]\nbody', 'null', '[null]', '[{"hint":"said"}]\n'])(
    'that is none brings nothing: %s',
    (text) => {
      expect(hintsIn(text)).toEqual([]);
    },
  );

  it('has the body of a commit as it is stored', () => {
    expect(textOf([{ hint: 'committed', commit }]).endsWith(commit.body)).toBe(true);
  });
});
