import { describe, expect, it } from 'vitest';
import { crowdedFolders } from './folder-size.ts';
import { filesBelow } from './source-file.ts';

const files = (count: number, ending: string) =>
  Array.from({ length: count }, (_, nth) => ({ path: `libs/thread/src/rules/f${nth}${ending}`, text: '' }));

describe('a folder', () => {
  it('holds at most 24 source files', () => {
    expect(crowdedFolders(filesBelow('libs', 'apps'))).toEqual([]);
  });

  it('is complained of at 25, and its specs do not count', () => {
    expect(crowdedFolders([...files(24, '.ts'), ...files(24, '.spec.ts')])).toEqual([]);
    expect(crowdedFolders(files(25, '.tsx'))).toEqual([
      'libs/thread/src/rules has 25 source files: give the nouns among them rooms of their own',
    ]);
  });
});
