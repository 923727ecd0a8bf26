// What package-lock.json and the manifests must contain so that `npm ci` gives the same tree on every machine.
//
// K1  Every optional package of every platform is in the lock: `npm ci` refuses a lock that lacks one
//     (tools/complete-lock.mjs).
// K2  The lock names no registry: it works behind any mirror.
// K3  Versions are exact, and packages of this repository are `*`.
// K4  Every entry that a registry serves has an integrity: what is installed is what was locked.
// K6  No package has an install script but those that are known to work without it (`ignore-scripts` in .npmrc).
// K5  The bundled Linux builds of Node say that they are for glibc: npm must not install them elsewhere.
import type { SourceFile, Violation } from './source-file.ts';

interface Manifest {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly libc?: readonly string[];
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** Each downloads or announces something that is not needed here. (K6) */
const harmlessScripts: readonly string[] = ['nx', 'protobufjs', 'esbuild', '@scarf/scarf'];

export function incompleteLock(lock: string): Violation[] {
  const { packages } = JSON.parse(lock) as { packages: Record<string, Manifest> };
  return Object.entries(packages).flatMap(([path, entry]) => {
    const missing = Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !foldersOf(path).some((folder) => packages[folder + name] !== undefined),
    );
    const isFromRegistry = entry.link !== true && entry.resolved !== undefined;
    return [
      ...missing.map((name) => `${path || 'the root'} may need ${name}, which the lock lacks (K1)`),
      ...(isFromRegistry ? [`${path} names ${entry.resolved} (K2)`] : []),
      ...(lacksIntegrity(path, entry) ? [`${path} has no integrity: node tools/complete-lock.mjs (K4)`] : []),
      ...(hasUnknownScript(path, entry) ? [`${path} has an install script: it does not run here (K6)`] : []),
      ...(isNodeForAnyLibc(path, entry) ? [`${path} names no libc: node tools/complete-lock.mjs (K5)`] : []),
    ];
  });
}

/** Where Node looks for what a package imports: in its own folder of packages, then in each one around it. */
function foldersOf(path: string): string[] {
  const around = [...path.matchAll(/node_modules\//g)].map(({ index }) => `${path.slice(0, index)}node_modules/`);
  return [`${path}/node_modules/`, ...around, 'node_modules/'];
}

function lacksIntegrity(path: string, entry: Manifest): boolean {
  return path.includes('node_modules/') && entry.link !== true && entry.integrity === undefined;
}

function hasUnknownScript(path: string, { hasInstallScript }: Manifest): boolean {
  return hasInstallScript === true && !harmlessScripts.some((name) => path.endsWith(`node_modules/${name}`));
}

function isNodeForAnyLibc(path: string, entry: Manifest): boolean {
  return path.startsWith('node_modules/node-linux-') && entry.libc?.includes('glibc') !== true;
}

export function looseVersions(manifests: readonly SourceFile[]): Violation[] {
  return manifests.flatMap(({ path, text }) => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(text) as Manifest;
    return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
      .filter(([name, version]) => (name.startsWith('@dormouse/') ? version !== '*' : !/^\d+\.\d+\.\d+$/.test(version)))
      .map(([name, version]) => `${path} asks for ${name} ${version} (K3)`);
  });
}
