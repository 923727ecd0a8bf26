// A file of this repository as the architecture rules see it: a path and a text. Only this file reads the disk, so that
// each rule is a pure function and can be tested with a violating sample.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** `path` is relative to the repository's root, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export type Rule = (files: readonly SourceFile[]) => Violation[];

/** One sentence, beginning with the file's path. */
export type Violation = string;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** `template`: of the package that `dormouse tools new` makes, not of ours. */
const skippedFolders = new Set(['node_modules', 'dist', 'generated', 'peers', 'template']);

/** Every TypeScript file and package.json below these folders. */
export function filesBelow(...folders: string[]): SourceFile[] {
  return folders.flatMap(pathsBelow).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function pathsBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : pathsBelow(path);
    return /\.tsx?$|^package\.json$/.test(entry.name) ? [path] : [];
  });
}

export function isTypeScript(file: SourceFile): boolean {
  return /\.tsx?$/.test(file.path);
}

/** A spec, or a file that several specs of a package share (src/spec/, which is not built). */
export function isSpec(path: string): boolean {
  return path.endsWith('.spec.ts') || /\/src\/(.+\/)?spec\//.test(path);
}

/** The package a file belongs to, as a folder: `libs/thread`, `libs/adapters/http`, `apps/cli`. */
export function packageOf(path: string): string {
  const depth = path.startsWith('libs/adapters/') ? 3 : 2;
  return path.split('/').slice(0, depth).join('/');
}

/** The imports of a file: `import`, `export … from`, `import()`, type-only ones too. */
export function importsOf(file: SourceFile): string[] {
  return ts.preProcessFile(file.text, true, true).importedFiles.map((imported) => imported.fileName);
}

/** The path that a relative import means; specifiers carry their extension here. */
export function resolved(file: SourceFile, specifier: string): string {
  const parts = file.path.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Calls `look` for every node of the file's syntax tree and collects the violations it returns. */
export function complaints(file: SourceFile, look: (node: ts.Node) => string | undefined): Violation[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const found: Violation[] = [];
  const visit = (node: ts.Node): void => {
    const complaint = look(node);
    if (complaint !== undefined) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree));
      found.push(`${file.path}:${line + 1} ${complaint}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}
