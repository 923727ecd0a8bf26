import { describe, expect, it } from 'vitest';
import { readDocument, repositoryFiles } from './document.ts';
import { foreignNames } from './foreign-names.ts';

const inLine = (text: string): string[] => foreignNames([{ path: 'a.md', text }]);

describe('the repository', () => {
  it('names no machine and no registry', () => {
    const files = repositoryFiles((path) => !path.startsWith('test/docs/foreign-names.')).map(readDocument);
    expect(files.length).toBeGreaterThan(200);
    expect(foreignNames(files)).toEqual([]);
  });
});

describe('a foreign name', () => {
  it.each([
    'cd /home/ann/dormouse',
    'see /root/x',
    '"/Users/ann/a"',
    'C:\\Users\\ann',
    '/tmp/build-7/x',
    '(/work/main)',
  ])('of a machine is seen: %s', (text) => expect(inLine(text)).toEqual([expect.stringContaining('F1')]));

  it.each(['https://registry.npmjs.org/zod', 'http://mirror.corp.internal:8081/npm/', 'npm.pypi.org'])(
    'of a registry is seen: %s',
    (text) => expect(inLine(text)).toEqual([expect.stringContaining('F2')]),
  );

  it.each([
    'from "./registry.ts"',
    'https://example.com/home/ann',
    'a worker/work/x',
    '/v1/threads',
    'ports/registry.ts',
    'https://mirror.example/a.tgz',
  ])('is not seen in %s', (text) => expect(inLine(text)).toEqual([]));
});
