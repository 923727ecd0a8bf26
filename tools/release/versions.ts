// Where the one version of this repository is written: manifests, the lock, the chart, the code, and commands of
// documents.
//
// Invariant:
//   V1. All places have the same version, before and after. A place that does not have it is an error, not left out.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file, and how the version is written in it. */
const lines: readonly (readonly [string, (version: string) => string])[] = [
  ['libs/host/src/version.ts', (version) => `export const version = '${version}';`],
  ['deploy/helm/dormouse/Chart.yaml', (version) => `version: ${version}\nappVersion: '${version}'`],
  ['deploy/helm/dormouse/ci/production-values.yaml', (version) => `tag: ${version}`],
  ['deploy/helm/dormouse/tests/deployments_test.yaml', (version) => `"dormouse:${version}`],
  ['deploy/docker/README.md', (version) => `dormouse:${version}`],
  ['docs/guides/kubernetes.md', (version) => `dormouse:${version}`],
  ['docs/start/tool-author.md', (version) => `-${version}.tgz`],
  ['docs/guides/write-a-tool-server.md', (version) => `-${version}.tgz`],
];

interface Manifest {
  readonly version: string;
  readonly workspaces?: readonly string[];
}

interface Lock {
  version: string;
  readonly packages: Readonly<Record<string, { version?: string }>>;
}

/** Paths of the manifests of the repository and of all its workspaces. */
export function manifests(root: string): readonly string[] {
  const { workspaces = [] } = readJson<Manifest>(join(root, 'package.json'));
  const found = workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }));
  return ['package.json', ...found.map((path) => path.replaceAll('\\', '/')).toSorted()];
}

/** @throws Error with every place that has another version. (V1) */
export function currentVersion(root: string): string {
  const { version } = readJson<Manifest>(join(root, 'package.json'));
  const wrong = [
    ...manifests(root).filter((path) => readJson<Manifest>(join(root, path)).version !== version),
    ...lines
      .filter(([path, written]) => !readFileSync(join(root, path), 'utf8').includes(written(version)))
      .map(([path]) => path),
  ];
  if (wrong.length > 0) throw new Error(`the version is not ${version} in ${wrong.join(', ')}`);
  return version;
}

/** Writes the version everywhere; nothing where it is that one already. */
export function writeVersion(root: string, version: string): void {
  const before = currentVersion(root);
  if (before === version) return;
  const paths = manifests(root);
  for (const path of paths) replace(join(root, path), `"version": "${before}"`, `"version": "${version}"`);
  for (const [path, written] of lines) replace(join(root, path), written(before), written(version));
  const lock = readJson<Lock>(join(root, 'package-lock.json'));
  lock.version = version;
  for (const path of paths) {
    const entry = lock.packages[path.replace(/\/?package\.json$/, '')];
    if (entry === undefined) throw new Error(`package-lock.json has no ${path}: npm install`);
    entry.version = version;
  }
  writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

function replace(path: string, before: string, after: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(before, after));
}

function readJson<Json>(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8')) as Json;
}
