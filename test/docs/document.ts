// The repository's documents as the rules here see them: a path and a text. Only this file reads the disk, so that each
// rule is a pure function and can be tested with a violating sample.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `path` is relative to the repository's root, with forward slashes. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** One sentence, beginning with the document's path. */
export type Violation = string;

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a fresh clone does not have: installed, built or made by running. */
const skippedFolders = new Set(['node_modules', 'dist', '.git', '.nx', '.cache', '.dormouse', 'coverage', 'peers']);
const skippedFiles = /^\.git$|^\.env(\..*)?$|\.(log|tsbuildinfo|db|db-shm|db-wal|png|ico|gz)$/;

/** Every file of the repository whose name the test takes, by path. */
export function repositoryFiles(wanted: (path: string) => boolean, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : repositoryFiles(wanted, path);
    return entry.isFile() && !skippedFiles.test(entry.name) && wanted(path) ? [path] : [];
  });
}

export function readDocument(path: string): Document {
  return { path, text: readFileSync(join(root, path), 'utf8') };
}

export function markdownDocuments(): Document[] {
  return repositoryFiles((path) => path.endsWith('.md')).map(readDocument);
}

/** Whether the repository has this file or folder. */
export function isInRepository(path: string): boolean {
  return existsSync(join(root, path));
}
