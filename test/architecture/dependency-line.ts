// Which package may import which (ARCHITECTURE.md, "dependency line"):
//
//   collections, json ← protocol ← thread ← ports ← runtime ← host ← apps,   ports ← adapters ← host
//
// D1  A package imports only the layers that its layer's row allows; runtime and adapters never see each other.
// D2  Only specs, test/ and bench/ import testing and the ports' contract suites (testing may import the suites too),
//     and only specs of another package import the memory adapter: ports are never mocked.
// D3  A relative import stays inside its package.
// D4  collections, json, protocol, thread and ports import nothing of Node: they have no I/O.
// D5  NestJS is imported by libs/host and by the main.ts of an app, nowhere else.
// D6  A package declares its imports in its package.json: hoisting must not decide what works.
import {
  importsOf,
  isSpec,
  isTypeScript,
  packageOf,
  resolved,
  type SourceFile,
  type Violation,
} from './source-file.ts';

const heart = ['collections', 'json', 'protocol', 'thread', 'ports'];

/** By layer, as `nx.tags` of each package.json says it: `layer:runtime`. */
const allowedByLayer: Readonly<Record<string, readonly string[]>> = {
  collections: [],
  json: [],
  protocol: ['json'],
  thread: ['collections', 'json', 'protocol'],
  ports: ['collections', 'json', 'protocol', 'thread'],
  runtime: heart,
  adapter: heart,
  host: [...heart, 'runtime', 'adapter'],
  client: [],
  'tool-server': ['json', 'protocol'],
  testing: [...heart, 'ports/contracts', 'runtime', 'adapter', 'client'],
  app: ['host', 'peer'],
  cli: ['client'],
  console: ['client'],
  peer: ['json', 'protocol', 'tool-server'],
};

/** Imports that specs may have besides those of their package. */
const testPackages = new Set(['testing', 'ports/contracts', 'adapter-memory']);

/** Layers without I/O. (D4) */
const pure = new Set(heart);

/** Test tools that the root package.json gives to every spec. */
const rootTools = new Set(['vitest', 'fast-check', 'typescript']);

/** Layers of packages, by folder and by name without its scope. */
export type Layers = ReadonlyMap<string, string>;

/** @throws Error when a package has no layer. */
export function layersOf(files: readonly SourceFile[]): Layers {
  const manifests = files.filter(({ path }) => path.endsWith('/package.json'));
  return new Map(
    manifests.flatMap(({ path, text }) => {
      const { name, nx } = JSON.parse(text) as { readonly name: string; readonly nx?: { readonly tags?: string[] } };
      const layer = nx?.tags?.find((tag) => tag.startsWith('layer:'))?.slice('layer:'.length);
      if (layer === undefined || !(layer in allowedByLayer)) throw new Error(`${path}: nx.tags names no layer`);
      return [
        [packageOf(path), layer],
        [name.replace('@dormouse/', ''), layer],
      ] as const;
    }),
  );
}

export function dependencyLine(files: readonly SourceFile[], layers: Layers): Violation[] {
  return files.filter(isTypeScript).flatMap((file) =>
    importsOf(file).flatMap((specifier) => {
      const complaint = complaintAbout(file, specifier, layers);
      return complaint === undefined ? [] : [`${file.path} imports ${specifier}: ${complaint}`];
    }),
  );
}

function complaintAbout(file: SourceFile, specifier: string, layers: Layers): string | undefined {
  const own = packageOf(file.path);
  if (specifier.startsWith('.')) {
    return resolved(file, specifier).startsWith(`${own}/`)
      ? undefined
      : 'a relative import stays inside its package (D3)';
  }
  if (specifier.startsWith('@dormouse/')) {
    return mayImport(file.path, specifier.slice('@dormouse/'.length), layers)
      ? undefined
      : 'against the dependency line (D1, D2)';
  }
  if (specifier.startsWith('node:') && pure.has(layers.get(own) ?? '') && !isSpec(file.path))
    return 'this package has no I/O (D4)';
  if (specifier.startsWith('@nestjs/') && !mayUseNest(file.path)) return 'only libs/host knows NestJS (D5)';
  return undefined;
}

function mayImport(path: string, target: string, layers: Layers): boolean {
  const forTests = isSpec(path) || path.startsWith('libs/ports/src/contracts/');
  if (forTests && testPackages.has(target)) return true;
  const allowed = allowedByLayer[layers.get(packageOf(path)) ?? ''] ?? [];
  return allowed.includes(layers.get(target) ?? target);
}

function mayUseNest(path: string): boolean {
  return path.startsWith('libs/host/') || /^apps\/[^/]+\/(src\/)?main\.ts$/.test(path);
}

/** (D6) A devDependency is enough for specs, contract suites and what configures a build. */
export function declaredDependencies(files: readonly SourceFile[]): Violation[] {
  const manifests = new Map(
    files.filter((file) => file.path.endsWith('/package.json')).map((file) => [packageOf(file.path), file]),
  );
  return files.filter(isTypeScript).flatMap((file) => {
    const declared = declaredFor(file.path, manifests.get(packageOf(file.path)));
    return importsOf(file)
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter((specifier) => !declared.has(moduleName(specifier)))
      .map((specifier) => `${file.path} imports ${specifier}, which its package.json does not declare (D6)`);
  });
}

function declaredFor(path: string, manifest: SourceFile | undefined): Set<string> {
  const { devDependencies = {}, ...installed } = JSON.parse(manifest?.text ?? '{}') as Manifest;
  const { optionalDependencies, peerDependencies } = installed;
  const dependencies = { ...peerDependencies, ...optionalDependencies, ...installed.dependencies };
  const isNotBuilt = isSpec(path) || path.includes('/contracts/') || path.endsWith('.config.ts');
  if (!isNotBuilt) return new Set(Object.keys(dependencies));
  const testing = ['@dormouse/testing', '@dormouse/ports'];
  return new Set([...Object.keys(dependencies), ...Object.keys(devDependencies), ...rootTools, ...testing]);
}

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

function moduleName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
