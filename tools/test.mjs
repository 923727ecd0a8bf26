// What `npm test` runs, in order: build, lint, format, the types of the specs, 2 000 simulated universes, every spec,
// then those that need a real Kafka, MongoDB-compatible server and Redis (test/services starts them). The last lines
// name what failed; the very last is the verdict.
//
//   node tools/test.mjs everything node tools/test.mjs <vitest filter> only these specs, e.g. libs/thread, test/cluster
//   or test/architecture -t cycle node tools/test.mjs --all [--seed N] [--minutes M] [--universes U]
//                                         everything, then all orders of the race matrix, U (20 000) more universes and
//                                         M (10) minutes of chaos on real servers, both of seed N, which is printed and
//                                         by default another one each time
//
// N counts the specs' tests; every other step counts as one test, and so does a spec file that could not be loaded.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const long = process.argv[2] === '--all' ? longRun(process.argv.slice(3)) : null;
const filter = long === null ? process.argv.slice(2) : [];
/** The exit code of a step that this machine cannot run. */
const cannot = 77;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const simulator = [join(root, 'node_modules/@dormouse/testing/dist/simulator/main.js')];
const chaos = ['--conditions=dormouse-source', join(root, 'test/chaos/main.ts')];
/**
 * @type {{ passed: number, failed: { name: string, reason: string }[], skipped: { name: string, reason: string }[] }}
 */
const total = { passed: 0, failed: [], skipped: [] };

if (filter.length === 0) {
  await check('build', 'typescript/bin/tsc', '-b');
  await check('lint', 'oxlint/bin/oxlint');
  await check('format', 'prettier/bin/prettier.cjs', '--check', '--cache', '--log-level', 'warn', '.');
  await check('types of the specs', 'typescript/bin/tsc', '-p', 'tsconfig.spec.json');
  await check('simulation', simulator, '--seeds', '2000');
}
const needsServers = /^test\/(cluster|chaos)/.test(filter[0] ?? '');
if (!needsServers) await specs('specs', 'vitest.config.ts');
if (needsServers || filter.length === 0) await specs('specs on real servers', 'vitest.cluster.config.ts');
if (long !== null) {
  const { seed, minutes, universes } = long;
  const from = String(seed * universes);
  await check('race matrix, all orders', [
    '--conditions=dormouse-source',
    join(root, 'test/simulation/race-matrix.ts'),
  ]);
  await check(
    `simulation, ${universes} universes from ${from}`,
    simulator,
    '--seeds',
    String(universes),
    '--from',
    from,
  );
  await check(`chaos, ${minutes} minutes, seed ${seed}`, chaos, '--seed', String(seed), '--minutes', String(minutes));
}
verdict();

function longRun(args) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(1 + (Date.now() % 99_999)) },
      minutes: { type: 'string', default: '10' },
      universes: { type: 'string', default: '20000' },
    },
  });
  const order = { seed: Number(values.seed), minutes: Number(values.minutes), universes: Number(values.universes) };
  if (!Object.values(order).every((number) => number >= 0))
    throw new RangeError('--seed, --minutes, --universes: numbers');
  console.log(`seed ${order.seed}: again with npm run test:all -- --seed ${order.seed}`);
  return order;
}

async function check(title, script, ...args) {
  const exitCode = await step(title, script, ...args);
  if (exitCode === cannot) total.skipped.push({ name: title, reason: 'this machine cannot: see above' });
  else if (exitCode === 0) total.passed += 1;
  else total.failed.push({ name: title, reason: `it ended with ${exitCode}: see above` });
}

async function specs(title, config) {
  const folder = mkdtempSync(join(tmpdir(), 'dormouse-test-'));
  const summary = join(folder, 'summary.json');
  try {
    const reporters = ['--reporter=default', `--reporter=${join(root, 'tools', 'test-summary.mjs')}`];
    const exitCode = await step(title, 'vitest/vitest.mjs', 'run', '--config', config, ...reporters, ...filter, {
      DORMOUSE_TEST_SUMMARY: summary,
    });
    const counted = JSON.parse(readFileSync(summary, 'utf8'));
    total.passed += counted.passed;
    total.failed.push(...counted.failed);
    if (exitCode !== 0 && counted.failed.length === 0)
      total.failed.push({ name: title, reason: `vitest ended with ${exitCode}: see above` });
    total.skipped.push(...counted.skipped);
  } catch (error) {
    total.failed.push({ name: title, reason: `it left no summary: ${error.message}` });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a script of a dependency, or Node with the given arguments, and prints how long it took. The last argument may
 * be extra environment. A signal is passed on, and the child has ended before this process does.
 */
async function step(title, script, ...args) {
  const env = typeof args.at(-1) === 'object' ? args.pop() : {};
  console.log(`\n── ${title}`);
  const began = Date.now();
  const told = Array.isArray(script) ? script : [join(root, 'node_modules', script)];
  const child = spawn(process.execPath, [...told, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  let signalled = false;
  const pass = (signal) => {
    signalled = true;
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal); // a terminal's Ctrl-C has reached it already
  };
  for (const signal of signals) process.on(signal, pass);
  const status = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  for (const signal of signals) process.off(signal, pass);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  const ended = signalled ? 'interrupted' : status === 0 ? 'passed' : status === cannot ? 'skipped' : 'FAILED';
  console.log(`── ${title}: ${ended} after ${seconds} s`);
  if (signalled) process.exit(130);
  return status;
}

function verdict() {
  const { passed, failed, skipped } = total;
  console.log();
  for (const { name, reason } of skipped) console.log(`skipped: ${name} (${reason})`);
  for (const { name, reason } of failed) console.log(`FAILED: ${name}\n  ${reason}`);
  if (long !== null) console.log(`seed ${long.seed}`);
  console.log(`${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
