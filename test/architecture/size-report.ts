// Sizes are a report, not a rule: a long function or file deserves a look, and is sometimes right.
import ts from 'typescript';
import { complaints, isSpec, isTypeScript, type SourceFile } from './source-file.ts';

const functionLinesComfortable = 70;
const fileLinesComfortable = 400;

export function sizeReport(files: readonly SourceFile[]): string[] {
  const code = files.filter((file) => isTypeScript(file) && !isSpec(file.path) && !file.path.includes('/contracts/'));
  return [...code.flatMap(longFile), ...code.flatMap(longFunctions)];
}

function longFile(file: SourceFile): string[] {
  const lines = file.text.split('\n').length;
  return lines > fileLinesComfortable ? [`${file.path} has ${lines} lines`] : [];
}

function longFunctions(file: SourceFile): string[] {
  return complaints(file, (node) => {
    if (!ts.isFunctionLike(node)) return undefined;
    const lines = node.getText().split('\n').length;
    return lines > functionLinesComfortable ? `a function of ${lines} lines` : undefined;
  });
}
