// How comments are written (STYLE, "Words"): in plain technical English whose subjects are nouns of the code.
//
// W1  A word that names no thing of the code is not in a comment: `bannedWords` says what to write instead.
//     So too in a comment that ends a line of code.
// W2  A line that is nothing but a comment has at most 120 columns.
// W3  A comment cites no document that is not in the repository.
// W4  A number in parentheses is an invariant of the same file, of the contract that the file's head names, or of
//     docs/invariants.md and docs/conformance.md. Any other is written with the name of its file: `(thread-log L5)`.
import { isTypeScript, type SourceFile, type Violation } from './source-file.ts';

/** What to name instead of each. */
const bannedWords: Readonly<Record<string, string>> = {
  nobody: 'the part that does not do it',
  'no one': 'the part that does not do it',
  whoever: 'the caller, the sender, the owner, …',
  somebody: 'another process, a client, an operator, …',
  someone: 'another process, a client, an operator, …',
  anybody: 'any caller, any client, …',
  anyone: 'any caller, any client, …',
  everybody: 'all callers, all readers, …',
  everyone: 'all callers, all readers, …',
};
const banned = new RegExp(`\\b(${Object.keys(bannedWords).join('|')})\\b`, 'i');
const columnsMax = 120;
/** Documents that the project was built from and does not contain. */
const foreignDocuments = /\b(?:design|guarantees|verification) §/;

export function bannedInComments(files: readonly SourceFile[]): Violation[] {
  return commentsOf(files, comment, (line) => {
    const word = banned.exec(line)?.[1]?.toLowerCase();
    return word === undefined ? undefined : `says "${word}": name ${bannedWords[word]} (W1)`;
  });
}

export const longComments = (files: readonly SourceFile[]): Violation[] =>
  commentsOf(files, wholeLine, (line) =>
    line.length > columnsMax ? `has a comment of ${line.length} columns: wrap it at ${columnsMax} (W2)` : undefined,
  );

export const foreignCitations = (files: readonly SourceFile[]): Violation[] =>
  commentsOf(files, comment, (line) =>
    foreignDocuments.test(line) ? 'cites a document that is not in the repository (W3)' : undefined,
  );

export const bareCitations = (files: readonly SourceFile[]): Violation[] =>
  files.flatMap((file) => {
    const own = new Set([...file.text.matchAll(ownInvariant)].map((found) => found[1]));
    const contracts = [...file.text.matchAll(contractInHead)].map((found) => found[1]);
    return commentsOf([file], comment, (line) => {
      const bare = [...line.matchAll(parenthesis)].flatMap(([, inside = '']) => bareNumbers(inside));
      const unknown = bare.find((number) => !own.has(number) && !contracts.includes(number.charAt(0)));
      return unknown === undefined
        ? undefined
        : `cites ${unknown}, which this file does not define: name its file (W4)`;
    });
  });

const ownInvariant = /^(?:\/\/|\s*\*)\s+([A-Z]\d+)\. /gm;
const contractInHead = /^\/\/.*ports\/(?:[\w-]+\/)?[\w-]+\.ts \(([A-Z])\d/gm;
const parenthesis = /\(([^()]*)\)/g;

/** The numbers of a parenthesis that consists of numbers only, without those that are global: R, T, I, V, H. */
function bareNumbers(inside: string): readonly string[] {
  const parts = inside.split(', ');
  return parts.every((part) => /^[A-Z]\d{1,2}$/.test(part)) ? parts.filter((part) => !/^[RTIVH]/.test(part)) : [];
}

const wholeLine = /^\s*(?:\/\/|\/\*\*|\* ).*/;
/** A whole line, or what ends a line of code. */
const comment = new RegExp(`${wholeLine.source}|\\s// .*`);

function commentsOf(
  files: readonly SourceFile[],
  kind: RegExp,
  complaintAbout: (comment: string) => string | undefined,
): Violation[] {
  return files.filter(isTypeScript).flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const found = kind.exec(line)?.[0];
      const complaint = found === undefined ? undefined : complaintAbout(found);
      return complaint === undefined ? [] : [`${path}:${index + 1} ${complaint}`];
    }),
  );
}
