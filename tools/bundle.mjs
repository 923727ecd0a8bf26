// What Node runs of this repository: for every package under libs/ and apps/ one dist/index.js from its sources, in about
// a second for all of them. A process then reads twenty files of ours instead of a thousand, which is half of its start.
// `tsc -b` checks the types and writes the declarations beside it. Plain JavaScript, after an installation.
//
//   node tools/bundle.mjs
//
// B1  A package holds its own code alone: every other package, ours too, stays an import.
// B2  Entries are the exports of package.json, each src/**/main.ts (a program), and each worker thread
//     (`*-worker.ts`; it stands beside index.js).
// B3  A file is written only when its text has changed, and files of an earlier build are removed after it: a process that
//     starts beside a build finds either.
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folders = ['libs', 'libs/adapters', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
);
await Promise.all(folders.filter(hasExportsOrProgram).map(bundle));

function hasExportsOrProgram(folder) {
  return existsSync(join(folder, 'package.json')) && Object.keys(entriesOf(folder)).length > 0;
}

async function bundle(folder) {
  const build = await rolldown({
    input: entriesOf(folder),
    platform: 'node',
    external: (id) => !/^(?:[./\0]|@oxc-project\/runtime\/)/.test(id), // (B1); the helpers of decorators are no package
    transform: { target: 'es2024', decorator: { legacy: true } },
    tsconfig: false,
    logLevel: 'warn',
  });
  const { output } = await build.generate({
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await build.close();
  write(join(folder, 'dist'), new Map(output.map((file) => [file.fileName, file.code ?? file.source])));
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

/** (B3) */
function write(folder, files) {
  for (const [name, text] of files) {
    const path = join(folder, name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  for (const name of globSync('**/*.js{,.map}', { cwd: folder }))
    if (!files.has(slashes(name))) rmSync(join(folder, name));
}

function slashes(path) {
  return path.replaceAll('\\', '/');
}
