// How hints call the command line tool.
//
// N1  The name `dormouse` alone belongs to another package: npx would fetch and run it in a folder that has not
//     installed ours. A hint says `npx` and the name in apps/cli/package.json, the one place of the scope.
import type { Document, Violation } from './document.ts';

export const strangersCommands = (documents: readonly Document[], name: string): Violation[] =>
  documents.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        /\bnpx\s+(?:--?[\w-]+\s+)*(?:@dormouse[\w-]*\/(?!cli\b)|dormouse\b)/.test(line) ||
        [...line.matchAll(/\bnpx\s+(@[\w-]+\/cli)\b/g)].some(([, named]) => named !== name)
          ? [`${path}:${index + 1} calls another package than ${name} (N1)`]
          : [],
      ),
  );
