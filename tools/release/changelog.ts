// What a release says: its version and its section of CHANGELOG.md, from the changesets. Pure.
//
// Invariants:
//   G1. The first release of a version that the changelog calls unreleased keeps that version, and its section.
//   G2. Every text of a changeset is in the section, once; larger changes come first.

/** A file of .changeset, as `@changesets/read` reads it. */
export interface Changeset {
  readonly id: string;
  readonly summary: string;
  readonly releases: readonly { readonly name: string; readonly type: string }[];
}

const sizes = ['major', 'minor', 'patch', 'none'] as const;
const unreleased = (version: string): string => `## ${version} (unreleased)`;

/** @throws RangeError when there is nothing to release. */
export function nextVersion(current: string, changelog: string, changesets: readonly Changeset[]): string {
  if (changelog.includes(unreleased(current))) return current; // (G1)
  const size = sizes.find((each) => changesets.some((one) => sizeOf(one) === each)) ?? 'none';
  if (size === 'none')
    throw new RangeError(`nothing has changed since ${current}: .changeset has no text (npm run changeset)`);
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number);
  if (size === 'major') return `${major + 1}.0.0`;
  return size === 'minor' ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

/** The changelog with the section of this release. `date` is of the form 2026-11-27. */
export function releasedChangelog(
  changelog: string,
  {
    version,
    date,
    changesets,
  }: { readonly version: string; readonly date: string; readonly changesets: readonly Changeset[] },
): string {
  const bullets = changesets
    .toSorted(
      (one, other) => sizes.indexOf(sizeOf(one)) - sizes.indexOf(sizeOf(other)) || one.id.localeCompare(other.id),
    )
    .map(({ summary }) => `- ${summary.trim().replaceAll(/\n(?=\S)/g, '\n  ')}\n`)
    .join(''); // (G2)
  const head = `## ${version} (${date})`;
  const begin = changelog.indexOf(unreleased(version));
  if (begin >= 0) {
    const after = changelog.slice(begin + unreleased(version).length);
    const end = after.indexOf('\n## ');
    const own = end < 0 ? after : after.slice(0, end);
    const older = end < 0 ? '' : after.slice(end);
    return `${changelog.slice(0, begin)}${head}${own.trimEnd()}\n${bullets}${older}`; // (G1)
  }
  const first = changelog.search(/^## /m);
  const at = first < 0 ? changelog.length : first;
  return `${changelog.slice(0, at)}${head}\n\n${bullets}\n${changelog.slice(at)}`;
}

/** The section of a version, for the notes of its release; null without one. */
export function sectionOf(changelog: string, version: string): string | null {
  const begin = changelog.indexOf(`## ${version} (`);
  if (begin < 0) return null;
  const body = changelog.indexOf('\n', begin) + 1;
  const end = changelog.indexOf('\n## ', body);
  return changelog.slice(body, end < 0 ? undefined : end).trim();
}

function sizeOf({ releases }: Changeset): (typeof sizes)[number] {
  return sizes.find((size) => releases.some(({ type }) => type === size)) ?? 'none';
}
