// A folder is a room whose files a reader takes in at one look.
import { dirname } from 'node:path';
import { isSpec, isTypeScript, type SourceFile } from './source-file.ts';

const filesPerFolderMax = 24;

/** Folders with too many source files; specs and contract suites do not count. */
export function crowdedFolders(files: readonly SourceFile[]): string[] {
  const sources = files.filter(
    (file) => isTypeScript(file) && !isSpec(file.path) && !file.path.includes('/contracts/'),
  );
  return [...Map.groupBy(sources, ({ path }) => dirname(path))]
    .filter(([, inside]) => inside.length > filesPerFolderMax)
    .map(
      ([folder, { length }]) => `${folder} has ${length} source files: give the nouns among them rooms of their own`,
    );
}
