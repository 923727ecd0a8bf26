import { describe, expect, it } from 'vitest';
import { isInRepository, markdownDocuments, readDocument } from './document.ts';
import { linksOf } from './markdown.ts';
import { missingPaths, rowsWithoutFile } from './named-paths.ts';

describe('a path that a document names', () => {
  it('exists, in every document', () => {
    // SPEC.md cites the specification's own repository.
    const documents = markdownDocuments().filter(({ path }) => path !== 'libs/protocol/SPEC.md');
    expect(missingPaths(documents, isInRepository)).toEqual([]);
  });

  it('is in every row of the tables of ARCHITECTURE.md', () => {
    const architecture = readDocument('ARCHITECTURE.md');
    expect(linksOf(architecture.text).length).toBeGreaterThan(60);
    expect(rowsWithoutFile(architecture)).toEqual([]);
  });

  it.each(['`libs/none/a.ts`', 'in `test/none`', '`docs/none.md:12`'])('is missed: %s', (text) =>
    expect(missingPaths([{ path: 'a.md', text }], () => false)).toHaveLength(1),
  );

  it.each(['libs/none', '`libs/<name>/src`', '`libs/*`', '`apps/cli/dist/main.js`', '`/v1/threads`', '`a/b`'])(
    'is not seen in %s',
    (text) => expect(missingPaths([{ path: 'a.md', text }], () => false)).toEqual([]),
  );

  it('is missed in a row without one', () => {
    const text = '| rule | file |\n| --- | --- |\n| one | `libs/a.ts` |\n| two | soon |\n';
    expect(rowsWithoutFile({ path: 'a.md', text })).toEqual(['a.md: the row "two" names no file (P2)']);
  });
});
