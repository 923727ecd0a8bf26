// docs/obligations.md: which spec proves which obligation of the protocol.
//
// O1  "Checked by" names only specs with a test whose title begins with the row's number.
// O2  A number that begins a test's title is a row.
// O3  T numbers count in specs of tool servers and of the wire only: elsewhere a T is a local invariant.
import type { Document, Violation } from './document.ts';
import { linksOf, tableRowsOf } from './markdown.ts';
import { titlesIn } from './promises.ts';

/** Spec files by the numbers that their titles begin with: `R5 R6 a title`. */
export function specsByNumber(specs: readonly Document[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { path, text } of specs) {
    const cited = titlesIn(text).flatMap((title) => /^(?:[A-Z]-?\d+\s+)+/.exec(title)?.[0].match(/\b[RT]\d+\b/g) ?? []);
    const numbers = new Set(cited.filter((number) => number.startsWith('R') || isAboutToolServers(path))); // (O3)
    for (const number of numbers) found.set(number, [...(found.get(number) ?? []), path]);
  }
  return found;
}

const isAboutToolServers = (path: string): boolean => /example-tools|tool-server|libs\/protocol/.test(path);

/** What is named and does not prove, and what is cited and is no row. (O1, O2) */
export function misnamed(page: Document, specs: readonly Document[]): Violation[] {
  const proofs = specsByNumber(specs);
  const rows = tableRowsOf(page.text).map((cells) => ({
    number: cells[0] ?? '',
    named: specsNamedIn(cells.at(-1) ?? ''),
  }));
  const known = new Set(rows.map(({ number }) => number));
  return [
    ...rows.flatMap(({ number, named }) =>
      named
        .filter((path) => !proofs.get(number)?.includes(path))
        .map((path) => `${page.path}: no title in ${path} begins with ${number} (O1)`),
    ),
    ...[...proofs]
      .filter(([number]) => !known.has(number))
      .map(([number, [path]]) => `${path} cites ${number}, which is no row (O2)`),
  ];
}

const specsNamedIn = (cell: string): string[] => linksOf(cell).map(({ target }) => target.replace(/^\.\.\//, ''));

/** The page with the column as it is today. */
export function withProofs(page: Document, specs: readonly Document[]): string {
  const proofs = specsByNumber(specs);
  return page.text.replaceAll(/^(\| ([RT]\d+) +\|.*\|)[^|]*\|$/gm, (_row, head: string, number: string) => {
    const links = (proofs.get(number) ?? []).toSorted().map((path) => `[${labelOf(path)}](../${path})`);
    return `${head} ${links.join(', ')} |`;
  });
}

/** `libs/thread/src/decide.spec.ts` reads as `decide`. */
const labelOf = (path: string): string =>
  path
    .split('/')
    .at(-1)
    ?.replace(/\.(spec|contract)\.ts$/, '') ?? path;
