// The quick check: build, linters, format and types of everything, and the specs of the packages that differ from main.
// What did not change comes from Nx's cache, which all clones of a user share. `npm test` proves everything.
//
//   npm run check                   compared with main: what is committed on a branch, and what is not committed yet
//   npm run check -- --base=HEAD~3  compared with another commit
//
// Without a main to compare with, the specs of all packages run.
import { spawnSync } from 'node:child_process';
import { readFlags } from './flags.ts';

const usage = `npm run check -- [options]: the quick check

  --base=COMMIT   specs of the packages that differ from it (default: main)
  --help          this text`;
const { values } = readFlags(usage, { base: { type: 'string' } });

const began = Date.now();
const output = ['--parallel=2', '--outputStyle=static'];
const shell = process.platform === 'win32';

nx('run-many', '--projects=dormouse', '--targets=build,lint,unused,format,types', ...output);
const base = values.base === undefined ? mainBranch() : `--base=${values.base}`;
if (base === undefined) nx('run-many', '--targets=test', ...output);
else nx('affected', '--targets=test', base, ...output);
console.log(`checked in ${((Date.now() - began) / 1_000).toFixed(0)} s`);

function mainBranch() {
  const isKnown = (name) => spawnSync('git', ['rev-parse', '--verify', '--quiet', name], { shell }).status === 0;
  const found = ['main', 'origin/main'].find(isKnown);
  return found && `--base=${found}`;
}

function nx(...args) {
  const { status } = spawnSync('nx', args, { stdio: 'inherit', shell });
  if (status !== 0) process.exit(status ?? 1);
}
