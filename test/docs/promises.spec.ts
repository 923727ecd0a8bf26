import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDocument } from './document.ts';
import { uncheckedPromises, unknownTests } from './promises.ts';

const guarantees = readDocument('docs/guarantees.md');

describe('a promise', () => {
  it('names tests that exist', () => {
    expect(unknownTests(guarantees, (target) => readDocument(join('docs', target)).text)).toEqual([]);
  });

  it('is checked by something', () => {
    expect(uncheckedPromises(guarantees)).toEqual([]);
  });

  const source = `describe('a call', () => { it('R9 ends "once"', () => {}); it.each([1])(\`is \\\`fine\\\`\`, () => {}); });`;
  const red = (text: string): string[] => [
    ...unknownTests({ path: 'a.md', text }, () => source),
    ...uncheckedPromises({ path: 'a.md', text }),
  ];

  it('is green with a test of that title', () => {
    expect(red('## Promises\n\n**One.** Text.\n\n- [R9 ends "once"](a.spec.ts)\n\n## Else\n')).toEqual([]);
  });

  it('is red when the test has another title', () => {
    expect(red('- [R9 ends twice](a.spec.ts)')).toEqual([expect.stringContaining('G1')]);
  });

  it.each(['Invariants', 'Limits', 'Threats'])('is red without a test among the %s', (section) => {
    expect(red(`## ${section}\n\n**One**\n\n- [R9 ends "once"](a.spec.ts)\n\n**Two**\n`)).toHaveLength(1);
  });

  it('is red without a test', () => {
    expect(red('## Promises\n\n**One.** Text.\n\n**Two.** Text.\n\n- [R9 ends "once"](a.spec.ts)\n')).toEqual([
      'a.md: nothing checks "One." (G2)',
    ]);
  });
});
