// The licences of the packages in package-lock.json: a report for each release, and a failure for what is not allowed.
//
//   node tools/release/licences.ts [--out DIR]     # writes licences.md and licences.json there, by default dist/release
//
// Invariants:
//   L1. Each package that is not ours has a licence as an SPDX expression. One without is a failure, not a gap.
//   L2. What is shipped, in the image or in our packages, has a licence of `shipped`. What only builds and tests may
//       have one of `development`, too. Of alternatives (OR) one is enough, of parts (AND) all are needed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** They ask for their text, which is in the image, and for nothing of our code. */
const shipped = ['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Unlicense'];
/** A changed file of MPL-2.0 would have to be published: none is changed, and none is shipped. */
const development = [...shipped, 'CC0-1.0', 'Python-2.0', 'MPL-2.0'];

interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly license?: unknown;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly licence: string | null;
  readonly isShipped: boolean;
}

/** Of third parties, sorted by name and version. */
export function packagesOf(lock: Lock): readonly Package[] {
  const found = new Map<string, Package>();
  for (const [path, entry] of Object.entries(lock.packages)) {
    const at = path.lastIndexOf('node_modules/');
    if (at < 0 || entry.link === true) continue;
    const name = entry.name ?? path.slice(at + 'node_modules/'.length);
    const version = entry.version ?? '';
    const key = `${name}@${version}`;
    const isShipped = (entry.dev !== true && entry.devOptional !== true) || found.get(key)?.isShipped === true;
    const licence = typeof entry.license === 'string' ? entry.license : null;
    found.set(key, { name, version, licence, isShipped });
  }
  return [...found.values()].toSorted(
    (one, other) => one.name.localeCompare(other.name) || one.version.localeCompare(other.version),
  );
}

/** One sentence for each package that must not be there. (L1, L2) */
export function licenceProblems(packages: readonly Package[]): readonly string[] {
  return packages.flatMap(({ name, version, licence, isShipped }) => {
    if (licence === null) return [`${name} ${version} names no licence: look into it, then choose another package`];
    if (allows(licence, isShipped ? shipped : development)) return [];
    const where = isShipped ? 'what is shipped' : 'development';
    return [`${name} ${version} has the licence ${licence}, which is not allowed for ${where}`];
  });
}

/**
 * Whether an SPDX expression can be met with these licences alone. An expression that cannot be read is not met, and
 * neither is one with an exception (WITH), which a person has to read first.
 */
export function allows(expression: string, licences: readonly string[]): boolean {
  const words = expression.match(/[()]|[\w.+-]+/g) ?? [];
  let at = 0;
  const isNext = (word: string): boolean => {
    if (words[at] !== word) return false;
    at += 1;
    return true;
  };
  const part = (): boolean => {
    if (!isNext('(')) return licences.includes(words[at++] ?? '');
    const inner = alternatives();
    return isNext(')') && inner;
  };
  const parts = (): boolean => {
    let isMet = part();
    while (isNext('AND')) isMet = part() && isMet;
    return isMet;
  };
  const alternatives = (): boolean => {
    let isMet = parts();
    while (isNext('OR')) isMet = parts() || isMet;
    return isMet;
  };
  return alternatives() && at === words.length;
}

/** For people: the packages of each licence, those that are shipped first. */
function licenceReport(packages: readonly Package[]): string {
  const section = (title: string, members: readonly Package[]): string => {
    const byLicence = Map.groupBy(members, ({ licence }) => licence ?? 'none');
    const lines = [...byLicence]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([licence, each]) => {
        const names = each.map(({ name, version }) => `${name} ${version}`);
        return `- **${licence}** (${each.length}): ${names.join(', ')}`;
      });
    return `## ${title}\n\n${members.length} packages.\n\n${lines.join('\n')}\n`;
  };
  const inside = packages.filter(({ isShipped }) => isShipped);
  const outside = packages.filter(({ isShipped }) => !isShipped);
  return `# Licences of third parties\n\n${section('Shipped', inside)}\n${section('Only for development', outside)}`;
}

/** Returns the number of packages. @throws Error with every problem. */
export function writeLicences(root: string, out: string): number {
  const packages = packagesOf(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock);
  const problems = licenceProblems(packages);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'licences.json'), `${JSON.stringify(packages, null, 2)}\n`);
  writeFileSync(join(out, 'licences.md'), licenceReport(packages));
  return packages.length;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..', '..');
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist', 'release') } } });
  try {
    console.log(`${writeLicences(root, values.out)} packages, all allowed: ${join(values.out, 'licences.md')}`);
  } catch (error) {
    console.error(`licences: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
