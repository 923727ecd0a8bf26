import { describe, expect, it } from 'vitest';
import { isInRepository, markdownDocuments, readDocument } from './document.ts';
import { brokenLinks } from './links.ts';

const repository = { has: isInRepository, read: (path: string): string => readDocument(path).text };

describe('a link', () => {
  it('leads somewhere, in every document', () => {
    expect(brokenLinks(markdownDocuments(), repository)).toEqual([]);
  });

  const pages: Record<string, string> = { 'docs/a.md': '# One thing\n\n## One thing\n', 'libs/x': '' };
  const broken = (text: string): string[] =>
    brokenLinks([{ path: 'docs/b.md', text }], { has: (path) => path in pages, read: (path) => pages[path] ?? '' });

  it.each([
    '[a](a.md)',
    '[a](./a.md#one-thing)',
    '[a](a.md#one-thing-1)',
    '[lib](../libs/x)',
    '[site](https://example.com/none.md)',
    '`[code](none.md)`',
    '```\n[fenced](none.md)\n```',
  ])('is fine: %s', (text) => expect(broken(text)).toEqual([]));

  it.each([
    ['[a](none.md)', 'L1'],
    ['see [`a`](none.md) there', 'L1'],
    ['[a](a.md#another-thing)', 'L2'],
    ['[a](../../a.md)', 'L3'],
    ['[a](/docs/a.md)', 'L3'],
  ])('is broken: %s', (text, rule) => expect(broken(text)).toEqual([expect.stringContaining(rule)]));
});
