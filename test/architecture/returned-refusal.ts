// A rule of the heart that may refuse tells so by what it returns, and the compiler accepts a call whose answer is
// dropped. So the answer of every function that refuses, or may return a refusal, is returned.
import ts from 'typescript';
import { complaints, type SourceFile, type Violation } from './source-file.ts';

/** These record the refusal themselves: a rule that calls one does nothing else afterwards. */
const recorders = ['refuse', 'refuseRequest'];

export function droppedRefusals(files: readonly SourceFile[]): Violation[] {
  const refusing = refusingIn(files);
  return files.flatMap((file) =>
    complaints(file, (node) => {
      if (ts.isStringLiteral(node) && ts.isExpressionStatement(node.parent)) return 'drops a refusal';
      const name = ts.isCallExpression(node) ? calledBy(node) : '';
      return refusing.has(name) && !isReturned(node) ? `drops the refusal of ${name}` : undefined;
    }),
  );
}

/** The functions with such an answer, and those that end with a call of one. */
export function refusingIn(files: readonly SourceFile[]): ReadonlySet<string> {
  const names = new Set(recorders);
  for (let before = 0; before < names.size;) {
    before = names.size;
    for (const { path, text } of files)
      for (const one of ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true).statements)
        if (ts.isFunctionDeclaration(one) && one.name !== undefined && mayRefuse(one, names)) names.add(one.name.text);
  }
  return names;
}

function mayRefuse(one: ts.FunctionDeclaration, names: ReadonlySet<string>): boolean {
  if (one.type?.getText().includes('StableRefusal') === true) return true;
  const returns = (node: ts.Node): boolean =>
    (ts.isCallExpression(node) && names.has(calledBy(node)) && isReturned(node)) ||
    ts.forEachChild(node, returns) === true;
  return returns(one);
}

const calledBy = ({ expression }: ts.CallExpression): string => (ts.isIdentifier(expression) ? expression.text : '');

/** `decide` asks `decideByKind` and makes the decision of its answer. */
function isReturned(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isConditionalExpression(parent) || ts.isParenthesizedExpression(parent)) return isReturned(parent);
  return ts.isReturnStatement(parent) || ts.isVariableDeclaration(parent) || ts.isArrowFunction(parent);
}
