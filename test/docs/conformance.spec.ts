import { describe, expect, it } from 'vitest';
import { readDocument, repositoryFiles } from './document.ts';
import { misnamed, withProofs } from './obligations.ts';

const specs = repositoryFiles((path) => /\.(spec|contract)\.ts$/.test(path) && !path.startsWith('test/docs/')).map(
  readDocument,
);

describe('the table of obligations', () => {
  it('names specs that prove what they are named for, and knows every number', () => {
    expect(misnamed(readDocument('docs/obligations.md'), specs)).toEqual([]);
  });

  const spec = { path: 'libs/a.spec.ts', text: `it('R5 R6 I-08 waits', () => {}); it('says R7 later', () => {});` };
  const table = (rows: string): string => `| id | obligation | checked by |\n| --- | --- | --- |\n${rows}\n`;
  const complaints = (rows: string): string[] => misnamed({ path: 'docs/a.md', text: table(rows) }, [spec]);

  it('is written from the titles', () => {
    const page = { path: 'docs/a.md', text: table('| R5 | waits |  |\n| R7 | more | [old](../libs/b.spec.ts) |') };
    expect(withProofs(page, [spec])).toBe(table('| R5 | waits | [a](../libs/a.spec.ts) |\n| R7 | more |  |'));
  });

  it('is red when a spec does not prove the row', () => {
    const rows = '| R5 | a | [a](../libs/a.spec.ts) |\n| R6 | b |  |\n| R7 | c | [a](../libs/a.spec.ts) |';
    expect(complaints(rows)).toEqual(['docs/a.md: no title in libs/a.spec.ts begins with R7 (O1)']);
  });

  it('is red when a title cites a number that is no row', () => {
    expect(complaints('| R5 | a |  |')).toEqual(['libs/a.spec.ts cites R6, which is no row (O2)']);
  });
});
