// Code that documents show: it can be read by what it is written for. Blocks with `…` show a part, and are not judged.
//
// N1  A block `json` is JSON.
// N2  A block `ts`, `js` or `tsx` has the syntax of its language.
// N3  A block `sh` or `bash` has the syntax of a shell.
import { spawnSync } from 'node:child_process';
import ts from 'typescript';
import type { Document, Violation } from './document.ts';
import { type Fence, fencesOf } from './markdown.ts';

export function unreadableSnippets(documents: readonly Document[]): Violation[] {
  return documents.flatMap(({ path, text }) =>
    fencesOf(text).flatMap((fence) => {
      const complaint = fence.text.includes('…') ? undefined : complaintAbout(fence);
      return complaint === undefined ? [] : [`${path}: ${complaint}, at: ${fence.text.split('\n', 1)[0]}`];
    }),
  );
}

function complaintAbout({ language, text }: Fence): string | undefined {
  switch (language) {
    case 'json':
      return isJson(text) ? undefined : 'a block is no JSON (N1)';
    case 'ts':
    case 'js':
    case 'tsx':
      return hasSyntax(`a.${language}`, text) ? undefined : `a block is no ${language} (N2)`;
    case 'sh':
    case 'bash':
      return spawnSync('bash', ['-n'], { input: text }).status === 0 ? undefined : 'a block is no shell script (N3)';
    default:
      return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function hasSyntax(fileName: string, text: string): boolean {
  const { diagnostics = [] } = ts.transpileModule(text, {
    fileName,
    reportDiagnostics: true,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext, allowJs: true },
  });
  return diagnostics.length === 0;
}
