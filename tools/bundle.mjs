// What Node runs of this repository: for every package under libs/ and apps/ one dist/index.js from its sources, in about
// a second for all of them. A process then reads some twenty files of ours instead of a thousand, a fifth of the processor
// time of its start (ADR 34). `tsc -b` checks the types and writes the declarations beside them. Plain JavaScript, after
// an installation.
//
//   node tools/bundle.mjs
//
// B1  A package holds its own code alone: every other package, ours too, stays an import.
// B2  Entries are the exports of package.json, each src/**/main.ts (a program), and each worker thread
//     (`*-worker.ts`; it stands beside index.js).
// B3  A file is replaced whole, and only when its text has changed: a process that starts beside a build, or a second
//     build, finds each file as it was or as it is.
// B4  Nothing is written when a package cannot be built.
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['libs', 'libs/adapters', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
);
const built = await Promise.all(folders.filter(hasExportsOrProgram).map(bundle));
for (const { dist, files } of built) write(dist, files); // (B4)

function hasExportsOrProgram(folder) {
  return existsSync(join(folder, 'package.json')) && Object.keys(entriesOf(folder)).length > 0;
}

async function bundle(folder) {
  const build = await rolldown({
    input: entriesOf(folder),
    platform: 'node',
    // (B1) The last is where rolldown has its helpers of decorators.
    external: (id) => !isAbsolute(id) && !/^(?:[.\0]|@oxc-project\/runtime\/)/.test(id),
    transform: { target: 'es2024', decorator: { legacy: true } },
    tsconfig: false,
    logLevel: 'warn',
  });
  const { output } = await build.generate({
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await build.close();
  const entriesLast = output.toSorted((one, other) => Number(one.isEntry ?? false) - Number(other.isEntry ?? false));
  const files = new Map(entriesLast.map((file) => [file.fileName, file.code ?? file.source]));
  return { dist: join(folder, 'dist'), files };
}

/** By path below dist, without its ending: the source file. (B2) */
function entriesOf(folder) {
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const exported = Object.values(exports)
    .filter((target) => target['dormouse-source'])
    .map(({ 'dormouse-source': source, default: built }) => [built.slice('./dist/'.length, -'.js'.length), source]);
  const programs = globSync('src/**/main.ts', { cwd: folder }).map((file) => [
    slashes(file).slice('src/'.length, -3),
    file,
  ]);
  const workers = globSync('src/**/*-worker.ts', { cwd: folder }).map((file) => [basename(file, '.ts'), file]);
  return Object.fromEntries(
    [...exported, ...programs, ...workers].map(([name, source]) => [name, join(folder, source)]),
  );
}

/** What an entry imports is there before it. (B3) */
function write(dist, files) {
  for (const [name, text] of files) {
    const path = join(dist, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    mkdirSync(dirname(path), { recursive: true });
    const next = `${path}.${process.pid}`;
    writeFileSync(next, text);
    renameSync(next, path);
  }
  for (const name of globSync('**/*.js{,.map}', { cwd: dist }))
    if (!files.has(slashes(name))) rmSync(join(dist, name), { force: true });
}

function slashes(path) {
  return path.replaceAll('\\', '/');
}
