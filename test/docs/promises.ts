// docs/guarantees.md: a promise, an invariant, a limit and a threat name the tests that check them.
//
// G1  The label of a link to a spec or a contract suite is the title of a test in that file.
// G2  Every one of them, a paragraph that begins in bold, is followed by at least one such link.
import type { Document, Violation } from './document.ts';
import { linksOf, sectionUnder } from './markdown.ts';

const checkedSections = ['Promises', 'Invariants', 'Limits', 'Threats'];

export function unknownTests({ path, text }: Document, read: (target: string) => string): Violation[] {
  return linksOf(text)
    .filter(({ target }) => isTests(target))
    .filter(({ label, target }) => !titlesIn(read(target)).includes(plain(label)))
    .map(({ label, target }) => `${path}: ${target} has no test "${label}" (G1)`);
}

export function uncheckedPromises({ path, text }: Document): Violation[] {
  const promises = checkedSections
    .flatMap((section) => sectionUnder(text, section).split(/^(?=\*\*)/m))
    .filter((paragraph) => paragraph.startsWith('**'));
  return promises
    .filter((promise) => !linksOf(promise).some(({ target }) => isTests(target)))
    .map((promise) => `${path}: nothing checks "${promise.slice(2, promise.indexOf('**', 2))}" (G2)`);
}

/** Titles as written, values as `…`: the first argument of `it(…)`, `test(…)`, `describe(…)`, or of `it.each(…)(…)`. */
export function titlesIn(source: string): string[] {
  const written = /(?:\b(?:it|test|describe)(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g;
  return [...source.matchAll(written)].map(([, , title = '']) =>
    plain(title.replaceAll(/\$\{[^}]*\}|%[sdijo]/g, '…').replaceAll(/\\(.)/g, '$1')),
  );
}

/** Specs, and the contract suites that every adapter runs. */
const isTests = (target: string): boolean => /\.(spec|contract)\.ts$/.test(target);

const plain = (text: string): string =>
  text
    .replaceAll(/\\([\\`*_[\]<>])/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ')
    .trim();
