// Paths that the documents name in code type: `libs/thread/src/decide.ts`.
//
// P1  A path that begins with a folder of this repository exists. Placeholders (`<name>`, `…`, `*`) and build output
//     are no paths.
// P2  Each row of ARCHITECTURE's tables of rules and of steps names at least one file.
import type { Document, Violation } from './document.ts';
import { inlineCodeOf, linksOf, tableRowsOf } from './markdown.ts';

const repositoryPath = /^(\.ci|libs|apps|test|docs|tools|bench|deploy)\/[\w./-]+$/;

export function pathsNamedIn(text: string): string[] {
  return inlineCodeOf(text)
    .map((code) => code.replace(/:\d+$/, ''))
    .filter((code) => repositoryPath.test(code) && !/(^|\/)(dist|node_modules)(\/|$)/.test(code));
}

export function missingPaths(documents: readonly Document[], has: (path: string) => boolean): Violation[] {
  return documents.flatMap(({ path, text }) =>
    [...new Set(pathsNamedIn(text))]
      .filter((named) => !has(named))
      .map((named) => `${path} names ${named}, which does not exist (P1)`),
  );
}

export function rowsWithoutFile({ path, text }: Document): Violation[] {
  return tableRowsOf(text)
    .filter((cells) => {
      const row = cells.join(' | ');
      return pathsNamedIn(row).length === 0 && linksOf(row).length === 0;
    })
    .map((cells) => `${path}: the row "${cells[0]}" names no file (P2)`);
}
