// `npm run pack`: the packages that others install, as tarballs in dist/packages/. Plain JavaScript.
//
// P1  A tarball needs no other package of this repository: those that it uses are bundled, code and types.
// P2  The names are those of the package.json files; the scope is written there and nowhere else.
// P3  Third parties stay dependencies, with the versions that are tested here as the lowest ones. The command line tool
//     alone bundles them, so that `npx` fetches one package; their licenses are in it.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { copyTypes } from './types.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const output = join(root, 'dist', 'packages');
const unpacked = join(root, 'dist', 'unpacked');
/** The oldest Node that the packages run on; their `engines` say so, too. */
const target = 'node20';

/**
 * `types`: packages of types that the declarations name. `copies`: folders and files that belong to the package.
 *
 * @type {readonly { folder: string, platform: 'node' | 'neutral', bundlesAll?: boolean, types?: object, copies?: string[] }[]}
 */
const packages = [
  { folder: 'libs/tool-server', platform: 'node', types: { '@types/node': '>=20' }, copies: [] },
  { folder: 'libs/client', platform: 'neutral' },
  { folder: 'apps/cli', platform: 'node', bundlesAll: true, copies: ['bin', 'template'] },
];

const own = ownPackages();
declare();
for (const folder of [output, unpacked]) rmSync(folder, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const each of packages) console.log(await pack(each));

/** The declarations that (P1) copies. */
function declare() {
  const ran = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b'], { stdio: 'inherit' });
  if (ran.status !== 0) throw new Error('tsc -b failed (above)');
}

async function pack({ folder, platform, bundlesAll = false, types = {}, copies = [] }) {
  const manifest = manifestOf(folder);
  const stage = join(unpacked, folder.split('/').at(-1));
  const entries = bundlesAll ? { main: join(root, folder, 'src/main.ts') } : entriesOf(folder, manifest);
  const { dependencies, optionalDependencies, peerDependencies } = foreignDependencies(folder, bundlesAll);
  const bundled = await bundle(entries, { platform, bundlesAll, folder: join(stage, 'dist') });
  for (const copy of copies.filter((name) => existsSync(join(root, folder, name))))
    cpSync(join(root, folder, copy), join(stage, copy), {
      recursive: true,
      filter: (path) => !/node_modules|\/dist(\/|$)/.test(path),
    });
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  if (bundlesAll) writeFileSync(join(stage, 'THIRD-PARTY-LICENSES'), licensesOf(bundled));
  writeFileSync(join(stage, 'README.md'), readmeOf(folder));
  const published = {
    ...Object.fromEntries(['name', 'version', 'description', 'keywords', 'license'].map((key) => [key, manifest[key]])),
    type: 'module',
    engines: manifest.engines,
    ...(manifest.bin ? { bin: manifest.bin } : {}),
    ...(bundlesAll ? {} : { sideEffects: false, exports: exportsOf(folder, manifest, stage) }),
    dependencies: { ...dependencies, ...types },
    optionalDependencies,
    peerDependencies,
    peerDependenciesMeta: manifest.peerDependenciesMeta,
  };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  return tarball(stage);
}

async function bundle(input, { platform, bundlesAll, folder }) {
  const build = await rolldown({
    input,
    platform,
    external: (id) =>
      id.startsWith('node:') || (!bundlesAll && !/^[./]/.test(id) && !own.has(nameIn(id)) && !id.startsWith('\0')),
    resolve: { conditionNames: ['dormouse-source', 'node', 'import', 'default'] },
    transform: { target },
    tsconfig: false,
  });
  const { output: chunks } = await build.write({
    dir: folder,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await build.close();
  return chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
}

/** By subpath without its `./`: the source file. */
function entriesOf(folder, { exports }) {
  return Object.fromEntries(
    Object.entries(exports).map(([path, { 'dormouse-source': source }]) => [
      entryName(path),
      join(root, folder, source),
    ]),
  );
}

function exportsOf(folder, { exports }, stage) {
  const entries = Object.entries(exports).map(([path, { types: declared }]) => {
    const types = copyTypes(join(root, folder, declared), { own, stage });
    return [path, { types: `./${relative(stage, types)}`, default: `./dist/${entryName(path)}.js` }];
  });
  return { ...Object.fromEntries(entries), './package.json': './package.json' };
}

function entryName(path) {
  return path === '.' ? 'index' : path.slice(2);
}

/** Of the package and of those of ours that are bundled with it. (P3) */
function foreignDependencies(folder, bundlesAll) {
  const [dependencies, optionalDependencies] = [{}, {}];
  const { peerDependencies } = manifestOf(folder);
  const waiting = [folder];
  for (const each of bundlesAll ? [] : waiting) {
    const manifest = manifestOf(each);
    for (const [name, version] of Object.entries(manifest.dependencies ?? {}))
      if (own.has(name)) waiting.push(own.get(name));
      else if (!peerDependencies?.[name]) dependencies[name] = `^${version}`;
    for (const [name, version] of Object.entries(manifest.optionalDependencies ?? {}))
      optionalDependencies[name] = `^${version}`;
  }
  const given = (of) => (of && Object.keys(of).length > 0 ? of : undefined);
  return {
    dependencies: given(dependencies),
    optionalDependencies: given(optionalDependencies),
    peerDependencies: bundlesAll ? undefined : peerDependencies,
  };
}

/** The license of every package that is in the bundle. */
function licensesOf(moduleIds) {
  const folders = new Set(
    moduleIds.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0]).filter(Boolean),
  );
  return [...folders]
    .toSorted((one, other) => one.localeCompare(other))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
    })
    .join('\n---\n\n');
}

/** Links into the repository lead nowhere from a package: their words stay. */
function readmeOf(folder) {
  return readFileSync(join(root, folder, 'README.md'), 'utf8').replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, '$1');
}

function tarball(stage) {
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [command, ...args] = [...npm, 'pack', '--json', '--pack-destination', output];
  const env = { ...process.env };
  for (const key of Object.keys(env)) if (/^npm_(lifecycle|package)_/i.test(key)) delete env[key];
  const ran = spawnSync(command, args, { cwd: stage, env, encoding: 'utf8', shell: process.platform === 'win32' });
  if (ran.status !== 0) throw new Error(`npm pack failed:\n${ran.stderr}`);
  const packed = JSON.parse(ran.stdout);
  const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed);
  return relative(root, join(output, filename));
}

/** By name: the folder. */
function ownPackages() {
  const folders = ['libs', 'libs/adapters', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  );
  return new Map(
    folders
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => [manifestOf(folder).name, folder]),
  );
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

function nameIn(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
