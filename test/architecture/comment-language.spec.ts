import { describe, expect, it } from 'vitest';
import { bannedInComments, bareCitations, foreignCitations, longComments } from './comment-language.ts';
import { filesBelow } from './source-file.ts';

/** Without this file: its samples are violations. */
const house = filesBelow('libs', 'apps', 'test', 'bench', 'deploy').filter(
  ({ path }) => !path.endsWith('comment-language.spec.ts'),
);
const product = house.filter(({ path }) => /^(?:libs|apps)\//.test(path) && !/\.(?:spec|contract)\.ts$/.test(path));
const sample = (text: string) => [{ path: 'libs/thread/src/a.ts', text }];

describe('comments', () => {
  it('are written in plain technical English', () => {
    expect(house.length).toBeGreaterThan(300);
    expect(bannedInComments(house)).toEqual([]);
    expect(longComments(house)).toEqual([]);
    expect(foreignCitations(house)).toEqual([]);
    expect(bareCitations(product)).toEqual([]);
  });

  it.each([
    ['W1', bannedInComments, '// Whoever comes later waits.'],
    ['W1', bannedInComments, ' * nobody reads it'],
    ['W1', bannedInComments, 'close(); // nobody reads it'],
    ['W2', longComments, `// ${'a word '.repeat(20)}`],
    ['W3', foreignCitations, '/** Step 3. design §4 */'],
    ['W4', bareCitations, '// A1. Stays.\nappend(); // (A1, L5)'],
  ])('%s is seen red', (_rule, rule, text) => {
    expect(rule(sample(text))).toHaveLength(1);
  });

  it('may cite their own file, the contract in its head, and the global lists by number alone', () => {
    const text =
      '// A log. Contract: ports/thread-log.ts (L1..L8).\n//   A1. Stays.\nappend(); // (A1, V8)\nread(); // (L5) (bus B1)';
    expect(bareCitations(sample(text))).toEqual([]);
  });

  it('are not looked for in code and texts', () => {
    const code = "const text = 'nobody'; // a short one\nexpect(whoever).toBe(design);";
    expect([...bannedInComments(sample(code)), ...longComments(sample(code))]).toEqual([]);
  });
});
