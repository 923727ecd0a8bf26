// The quick check: build, lint and pure specs of the projects that differ from main, then the types of all specs. What
// did not change comes from Nx's cache. `npm test` proves everything.
//
//   npm run check                   compared with main: what is committed on a branch, and what is not committed yet
//   npm run check -- --base=HEAD~3  compared with another commit
import { spawnSync } from 'node:child_process';

const base = process.argv.slice(2).find((argument) => argument.startsWith('--base=')) ?? '--base=main';
const began = Date.now();
const env = { ...process.env, NX_DAEMON: 'false' };

step('nx', ['affected', '-t', 'build', 'lint', 'test', base, '--parallel=2', '--outputStyle=static']);
step('tsc', ['-p', 'tsconfig.spec.json']);
console.log(`checked in ${((Date.now() - began) / 1_000).toFixed(0)} s`);

function step(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', env, shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
