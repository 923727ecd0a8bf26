// Writes into package-lock.json what npm left out: native packages of other platforms, integrities,
// and the libc of the bundled Node.
//
//   node tools/complete-lock.mjs          after `npm install` of something that brings native packages (nx, oxlint, …)
//
// npm drops an optional package when the registry it asked does not have it (mirrors often carry few platforms), and
// `npm ci` then refuses the lock. test/architecture/lock-file.spec.ts fails when this is needed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const platform =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x)(?:-([a-z]+))?$/;
const lockFile = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));
const packages = { ...lock.packages };

for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (foldersOf(path).some((folder) => packages[folder + name])) continue;
    packages[`node_modules/${name}`] = entryFor(name, version, dev);
    process.stdout.write(`added ${name} ${version}\n`);
  }
}
for (const [path, entry] of Object.entries(packages)) {
  if (!path.includes('node_modules/') || entry.link || entry.integrity) continue;
  entry.integrity = integrityOf(
    entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    entry.version,
  );
  process.stdout.write(`${path}: ${entry.integrity}\n`);
}
for (const [path, entry] of Object.entries(packages))
  if (path.startsWith('node_modules/node-linux-')) entry.libc = ['glibc']; // its own manifest does not say so
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(lockFile, `${JSON.stringify(lock, null, 2)}\n`);

/** Where Node looks for what a package imports. */
function foldersOf(path) {
  const around = [...path.matchAll(/node_modules\//g)].map(({ index }) => `${path.slice(0, index)}node_modules/`);
  return [`${path}/node_modules/`, ...around, 'node_modules/'];
}

function entryFor(name, version, dev) {
  const parts = platform.exec(name);
  if (!parts) throw new Error(`${name}: its name does not say its platform; add it to package-lock.json by hand`);
  const [, os, cpu, flavour = ''] = parts;
  const libc = flavour.startsWith('musl') ? ['musl'] : flavour.startsWith('gnu') ? ['glibc'] : undefined;
  return { version, cpu: [cpu], dev, libc, optional: true, os: [os] };
}

/** @throws Error when the registry does not have the version. */
function integrityOf(name, version) {
  const found = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (found.trim() === '') throw new Error(`${name} ${version}: this registry does not have it`);
  return found.trim();
}
