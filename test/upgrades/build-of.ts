// The programs of another commit, built in a folder of their own outside the repository.
//
// Invariants:
//   B1. The repository is only read: its history as an archive, its installed packages by links. Packages of the other
//       commit are installed apart where its lock is another.
//   B2. A checkout without that history, and a machine that cannot install its packages, is reported with the reason.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../chaos/chaos-cluster.ts';

export type Build =
  | { readonly available: true; readonly commit: string; readonly root: string; remove(): void }
  | { readonly available: false; readonly reason: string };

const run = promisify(execFile);
const ours = '@dormouse';
const buildWithinMs = 600_000;
const outputBytesMax = 64 * 1_048_576;

/** The programs of these apps. */
export async function buildOf(revision: string, apps: readonly string[]): Promise<Build> {
  const commit = git('rev-parse', '--short=7', '--verify', '--quiet', `${revision}^{commit}`);
  if (commit === null) return { available: false, reason: `this checkout has no history with ${revision}` };
  const folder = mkdtempSync(join(tmpdir(), `dormouse-${commit}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const archive = execFileSync('git', ['archive', '--format=tar', commit], {
      cwd: root,
      maxBuffer: outputBytesMax * 8,
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    const isSameLock = readFileSync(join(folder, 'package-lock.json')).equals(
      readFileSync(join(root, 'package-lock.json')),
    );
    if (isSameLock) linkPackages(folder);
    else
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, timeout: buildWithinMs });
    const tsc = join(folder, 'node_modules', 'typescript', 'lib', 'tsc.js');
    const projects = apps.map((app) => join('apps', app));
    await run(process.execPath, [tsc, '-b', ...projects], {
      ...{ cwd: folder, timeout: buildWithinMs, maxBuffer: outputBytesMax },
    });
    return { available: true, commit, root: folder, remove };
  } catch (error) {
    remove();
    const { stdout = '', message } = error as Error & { readonly stdout?: string };
    return { available: false, reason: `${commit} cannot be built here: ${message} ${stdout.slice(-1_000)}` };
  }
}

function git(...args: readonly string[]): string | null {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null; // no repository, or no such commit
  }
}

/** Each package as a link, our own to those of the folder. (B1) */
function linkPackages(folder: string): void {
  for (const modules of ['node_modules', ...nestedModules()]) {
    const [from, to] = [join(root, modules), join(folder, modules)];
    if (modules !== 'node_modules' && !isFolder(dirname(to))) continue; // a package that it does not have yet
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) {
      if (name === ours) continue;
      symlinkSync(join(from, name), join(to, name));
    }
  }
  mkdirSync(join(folder, 'node_modules', ours), { recursive: true });
  for (const place of ['libs', 'libs/adapters', 'apps', 'test', 'bench', 'docs', 'deploy']) {
    for (const each of ['', ...foldersIn(join(folder, place))]) {
      const path = join(folder, place, each);
      const name = nameOf(path);
      const link = name === null ? null : join(folder, 'node_modules', name);
      if (link !== null && !isFolder(link)) symlinkSync(path, link);
    }
  }
}

/** Of workspaces that need another version than the others. */
function nestedModules(): readonly string[] {
  return ['libs', 'libs/adapters', 'apps'].flatMap((place) =>
    foldersIn(join(root, place)).flatMap((each) => {
      const modules = join(place, each, 'node_modules');
      return isFolder(join(root, modules)) ? [modules] : [];
    }),
  );
}

function nameOf(folder: string): string | null {
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly name?: string };
    return name?.startsWith(`${ours}/`) === true ? name : null;
  } catch {
    return null; // no package
  }
}

const foldersIn = (path: string): readonly string[] => (isFolder(path) ? readdirSync(path) : []);

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
