// Parts of TypeScript and of the machine that this repository does not use.
//
// L1  No enum, no namespace (augmenting a foreign module is allowed), no `any`.
// L2  The environment is read in libs/host/src/config.ts only: all other code gets values as arguments.
// L3  A TODO carries the number of its issue: TODO(#12).
// L4  No file or folder has a name that says nothing: utils, common, shared, core, helpers, types, misc.
// L5  A number names one invariant: of its file, in the bench of all its files.
import ts from 'typescript';
import { complaints, isTypeScript, type SourceFile, type Violation } from './source-file.ts';

export function plainTypes(files: readonly SourceFile[]): Violation[] {
  return files.filter(isTypeScript).flatMap((file) =>
    complaints(file, (node) => {
      if (ts.isEnumDeclaration(node)) return 'declares an enum: use a union of strings (L1)';
      if (ts.isModuleDeclaration(node) && ts.isIdentifier(node.name) && node.name.text !== 'global') {
        return 'declares a namespace: use a module (L1)';
      }
      return node.kind === ts.SyntaxKind.AnyKeyword ? 'says any: use unknown and parse it (L1)' : undefined;
    }),
  );
}

export function environmentReads(files: readonly SourceFile[]): Violation[] {
  const told = files.filter((file) => isTypeScript(file) && file.path !== 'libs/host/src/config.ts');
  return told.flatMap((file) =>
    complaints(file, (node) => (readsEnvironment(node) ? 'reads the environment (L2)' : undefined)),
  );
}

function readsEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === 'env' && isProcess(node.expression);
  if (ts.isElementAccessExpression(node)) return isText(node.argumentExpression, 'env') && isProcess(node.expression);
  if (ts.isBindingElement(node)) return isText(node.propertyName ?? node.name, 'env') && isTakenFromProcess(node);
  return ts.isImportSpecifier(node) && isText(node.propertyName ?? node.name, 'env') && isOfProcessModule(node);
}

function isProcess(node: ts.Node): boolean {
  return ts.isIdentifier(node)
    ? node.text === 'process'
    : ts.isPropertyAccessExpression(node) && node.name.text === 'process';
}

function isTakenFromProcess(node: ts.BindingElement): boolean {
  const declaration = node.parent.parent;
  return (
    ts.isVariableDeclaration(declaration) && declaration.initializer !== undefined && isProcess(declaration.initializer)
  );
}

function isOfProcessModule(node: ts.ImportSpecifier): boolean {
  return /^(node:)?process$/.test((node.parent.parent.parent.moduleSpecifier as ts.StringLiteral).text);
}

function isText(node: ts.Node, text: string): boolean {
  return (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && node.text === text;
}

export function unnumberedTodos(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) =>
    file.text.split('\n').flatMap((line, index) => {
      const isLoose = /\b(TODO|FIXME|XXX)\b(?!\(#\d+\))/.test(line);
      return isLoose ? [`${file.path}:${index + 1} promises work without an issue: write TODO(#12) (L3)`] : [];
    }),
  );
}

const emptyNames = /^(utils?|common|shared|core|helpers?|types?|misc)$/;

const invariant = /^\/\/ {1,3}([A-Z]+\d+)\. /;

export function sharedNumbers(files: readonly SourceFile[]): Violation[] {
  const known = new Set<string>();
  return files.flatMap((file) => {
    const owner = file.path.startsWith('bench/') ? 'bench' : file.path;
    return file.text.split('\n').flatMap((line) => {
      const number = invariant.exec(line)?.[1];
      if (number === undefined) return [];
      const isTaken = known.has(`${owner} ${number}`);
      known.add(`${owner} ${number}`);
      return isTaken ? [`${file.path}: ${number} is the number of another invariant (L5)`] : [];
    });
  });
}

export function emptyFileNames(files: readonly SourceFile[]): Violation[] {
  return files.flatMap((file) => {
    const names = file.path.split('/').map((part) => part.replace(/(\.spec)?\.tsx?$/, ''));
    return names
      .filter((part) => emptyNames.test(part))
      .map((part) => `${file.path}: "${part}" says nothing of its contents (L4)`);
  });
}
