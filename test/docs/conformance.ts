// docs/conformance.md: which specs prove which obligation of the protocol, on which topologies, and what is open.
//
// O1  A row names only specs with a test whose title begins with the row's number.
// O2  A number that begins a test's title is a row.
// O3  T numbers count in specs of tool servers and of the wire only: elsewhere a T is a local invariant.
// O4  Topologies and status follow from the specs that the row names; they are generated, never written by hand.
// O5  A row without any spec has a reason in the list of open ones, and a row that is proved has none.
import type { Document, Violation } from './document.ts';
import { linksOf, tableRowsOf } from './markdown.ts';
import { titlesIn } from './promises.ts';

/** Why no test proves a row yet. The only words about a status that are written by hand. */
export const openReasons: Readonly<Record<string, string>> = {};

/** Which specs a tier runs: what is included and not excluded. */
export interface Tier {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Facts beside the specs. */
export interface Basis {
  readonly standalone: Tier;
  readonly cluster: Tier;
  readonly openReasons: Readonly<Record<string, string>>;
}

/** The lists in a configuration of the test runner. */
export function tierIn(config: string): Tier {
  const listed = (name: string): readonly string[] =>
    [...config.matchAll(new RegExp(`${name}: \\[([^\\]]*)\\]`, 'g'))].flatMap(([, list = '']) =>
      [...list.matchAll(/'([^']+)'/g)].map(([, glob = '']) => glob),
    );
  return { include: listed('include'), exclude: listed('exclude') };
}

const runsIn = ({ include, exclude }: Tier, path: string): boolean =>
  include.some((glob) => matches(glob, path)) && !exclude.some((glob) => matches(glob, path));

/** `**` any folders, `*` anything in one, `{a,b}` one of them. */
function matches(glob: string, path: string): boolean {
  const pattern = glob
    .replaceAll(/[.+?^$()|\\]/g, '\\$&')
    .replaceAll(/\{([^}]*)\}/g, (_whole, options: string) => `(?:${options.replaceAll(',', '|')})`)
    .replaceAll(/\*\*\/|\*\*|\*/g, (stars) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' })[stars] ?? stars);
  return new RegExp(`^${pattern}$`).test(path);
}

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

export interface Standing {
  readonly topologies: string;
  readonly status: string;
}

/** What the specs of a row prove. (O4) */
export function standingOf(number: string, named: readonly Document[], basis: Basis): Standing {
  const whole = named.filter((spec) => (number.startsWith('R') ? startsTheSystem(spec) : servesTools(spec)));
  if (whole.length === 0)
    return {
      topologies: '',
      status: named.length > 0 ? 'proved by unit tests only' : `open: ${basis.openReasons[number] ?? 'no test'}`,
    };
  return { topologies: number.startsWith('R') ? topologiesOf(whole, basis) : '', status: 'proved' };
}

/** Drives the programs that users start, over HTTP. */
const startsTheSystem = ({ path, text }: Document): boolean =>
  path.startsWith('test/') && /\b(?:setRig|startSystem|startStandalone|startCluster)\b/.test(text);

/** Drives a tool server, over HTTP. */
const servesTools = ({ path }: Document): boolean => /^(?:libs\/tool-server|test\/example-tools)\//.test(path);

function topologiesOf(specs: readonly Document[], { standalone, cluster }: Basis): string {
  const [alone, together] = [standalone, cluster].map((tier) => specs.some(({ path }) => runsIn(tier, path)));
  if (alone === true && together === true) return 'both';
  return together === true ? 'cluster' : 'standalone';
}

/** Named specs that do not prove, cited numbers without a row, claims that do not follow. (O1, O2, O4, O5) */
export function misnamed(page: Document, specs: readonly Document[], basis: Basis): Violation[] {
  const proofs = specsByNumber(specs);
  const rows = rowsOf(page);
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
    ...rows.flatMap((row) => wronglyClaimed(page, row, specs, basis)),
  ];
}

interface Row {
  readonly number: string;
  readonly named: readonly string[];
  readonly topologies: string;
  readonly status: string;
}

const rowsOf = (page: Document): readonly Row[] =>
  tableRowsOf(page.text).map((cells) => {
    const [tests = '', topologies = '', status = ''] = cells.slice(-3);
    const named = linksOf(tests).map(({ target }) => target.replace(/^\.\.\//, ''));
    return { number: cells[0] ?? '', named, topologies, status };
  });

function wronglyClaimed(page: Document, row: Row, specs: readonly Document[], basis: Basis): Violation[] {
  const { number } = row;
  const named = specs.filter(({ path }) => row.named.includes(path));
  const { topologies, status } = standingOf(number, named, basis);
  const violations: Violation[] = [];
  if (row.topologies !== topologies || row.status !== status)
    violations.push(`${page.path}: ${number} is "${status}" on "${topologies}" by what it names (O4)`);
  if (row.named.length === 0 && basis.openReasons[number] === undefined)
    violations.push(`${page.path}: ${number} has neither a test nor a reason (O5)`);
  if (status === 'proved' && basis.openReasons[number] !== undefined)
    violations.push(`${page.path}: ${number} is proved and has a reason why not (O5)`);
  return violations;
}

/** The page with its last three columns as they are today. */
export function withProofs(page: Document, specs: readonly Document[], basis: Basis): string {
  const proofs = specsByNumber(specs);
  return page.text.replaceAll(/^(\| ([RT]\d+) +\|.*\|)(?:[^|]*\|){3}$/gm, (_row, head: string, number: string) => {
    const paths = (proofs.get(number) ?? []).toSorted();
    const links = paths.map((path) => `[${labelOf(path)}](../${path})`);
    const { topologies, status } = standingOf(
      number,
      specs.filter(({ path }) => paths.includes(path)),
      basis,
    );
    return `${head} ${links.join(', ')} | ${topologies} | ${status} |`;
  });
}

/** `libs/thread/src/decide.spec.ts` reads as `decide`. */
const labelOf = (path: string): string =>
  path
    .split('/')
    .at(-1)
    ?.replace(/\.(spec|contract)\.ts$/, '') ?? path;
