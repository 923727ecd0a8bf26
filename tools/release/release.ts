// Makes a release out of the changesets: the version, the changelog, a commit and a tag on this machine, and what belongs
// to it in dist/. Nothing is pushed: .github/workflows/release.yml publishes the tag.
//
//   npm run release -- --help
//
// Invariants:
//   R1. What can refuse, refuses before anything is written: a changed tree, another branch than main, nothing to
//       release, a tag that is there, a licence that is not allowed, data of an older release that cannot be read.
//   R2. A step that fails after that leaves the branch where it was, with the tree of its commit, and no tag.
//   R3. A dry run writes into dist/ at most.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readChangesets } from '@changesets/read';
import { readFlags } from '../flags.ts';
import { nextVersion, releasedChangelog, sectionOf } from './changelog.ts';
import { writeLicences } from './licences.ts';
import { currentVersion, writeVersion } from './versions.ts';

const root = join(import.meta.dirname, '..', '..');
const out = join(root, 'dist', 'release');
const usage = `npm run release -- [options]: makes a release out of the changesets, on this machine

  --dry-run       checks everything, says the version and its notes, and writes dist/release alone
  --no-pack       leaves the packages and the chart to the workflow
  --check vX.Y.Z  makes none: whether the tag is of this commit's version; writes its notes and licences
  --help          this text`;
const { values } = readFlags(usage, {
  'dry-run': { type: 'boolean', default: false },
  'no-pack': { type: 'boolean', default: false },
  check: { type: 'string' },
});
const isDry = values['dry-run'];

try {
  if (values.check === undefined) await release();
  else check(values.check);
} catch (error) {
  console.error(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  if (!isDry) refuseChangedTree();
  const changesets = await readChangesets(root);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const current = currentVersion(root);
  const version = nextVersion(current, changelog, changesets);
  const tag = `v${version}`;
  if (git('tag', '--list', tag) !== '') throw new Error(`the tag ${tag} is there: ${version} has been released`);
  const date = new Date().toISOString().slice(0, 10);
  const written = releasedChangelog(changelog, { version, date, changesets });
  const notes = sectionOf(written, version) ?? '';
  const count = writeLicences(root, out); // (R1)
  console.log(`licences: ${count} packages, all allowed: dist/release/licences.md`);
  run('npm', 'run', 'test:upgrades'); // (R1)
  writeFileSync(join(out, 'notes.md'), `${notes}\n`);
  if (isDry) {
    const kept = current === version ? ', as the manifests say' : ` after ${current}`;
    console.log(`\n${tag}${kept}, with ${changesets.length} changesets:\n\n${notes}\n`);
    console.log(`nothing was written but dist/release; without --dry-run: a commit and the tag ${tag}`);
    return;
  }
  const before = git('rev-parse', 'HEAD');
  try {
    writeVersion(root, version);
    writeFileSync(join(root, 'CHANGELOG.md'), written);
    for (const { id } of changesets) rmSync(join(root, '.changeset', `${id}.md`));
    run('npx', '--no-install', 'prettier', '--write', '--log-level', 'warn', 'CHANGELOG.md');
    git('add', '--all');
    git('commit', '--quiet', '--message', `release: ${version}`);
    if (!values['no-pack']) pack();
    git('tag', '--annotate', tag, '--message', `Dormouse ${version}`);
  } catch (error) {
    git('reset', '--quiet', '--hard', before); // (R2): the tree had no change of its own (R1)
    throw error;
  }
  console.log(`${tag} is tagged. Look at it, then: git push origin main ${tag}`);
}

/** (R1) */
function refuseChangedTree(): void {
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`the tree has changes that are not committed:\n${changed}`);
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') throw new Error(`this is the branch ${branch}: a release is made on main`);
}

/** What the workflow builds again from the tag: here it shows that it can be built. */
function pack(): void {
  run('npm', 'run', 'pack');
  mkdirSync(out, { recursive: true });
  run('helm', 'package', join('deploy', 'helm', 'dormouse'), '--destination', out);
  run(process.execPath, join('deploy', 'docker', 'build.mjs'), '--files-only');
}

/** A tag that names another version than the manifests, or one without a section of the changelog, is not published. */
function check(tag: string): void {
  const version = currentVersion(root);
  if (tag !== `v${version}`) throw new Error(`the tag ${tag} is not of ${version}, which the manifests have`);
  const notes = sectionOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (notes === null || notes === '') throw new Error(`CHANGELOG.md has no section of ${version}`);
  writeLicences(root, out);
  writeFileSync(join(out, 'notes.md'), `${notes}\n`);
  console.log(`${tag}: the notes and the licences are in ${out}`);
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trim();
}

function run(command: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${error?.message ?? status}`);
}
