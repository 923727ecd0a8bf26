import { describe, expect, it } from 'vitest';
import { markdownDocuments } from './document.ts';
import { fencesOf } from './markdown.ts';
import { unreadableSnippets } from './snippets.ts';

const block = (language: string, text: string): string[] =>
  unreadableSnippets([{ path: 'a.md', text: `\`\`\`${language}\n${text}\n\`\`\`\n` }]);

describe('code that documents show', () => {
  it('can be read, in every document', () => {
    const documents = markdownDocuments();
    expect(documents.flatMap(({ text }) => fencesOf(text)).length).toBeGreaterThan(150);
    expect(unreadableSnippets(documents)).toEqual([]);
  });

  it.each([
    ['json', '{"a": 1,}', 'N1'],
    ['ts', 'const a: = 1;', 'N2'],
    ['js', 'const = 1;', 'N2'],
    ['sh', 'if true; then echo a', 'N3'],
    ['bash', 'echo "a', 'N3'],
  ])('is red in %s: %s', (language, text, rule) => {
    expect(block(language, text)).toEqual([expect.stringContaining(`(${rule})`)]);
  });

  it.each([
    ['json', '{"a": …}'],
    ['text', 'if true; then'],
    ['ts', 'export const a: number = await b();'],
    ['sh', 'curl -d \'{"a": 1}\' http://127.0.0.1:1 # a comment'],
  ])('is green in %s: %s', (language, text) => expect(block(language, text)).toEqual([]));
});
