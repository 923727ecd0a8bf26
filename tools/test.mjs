// What `npm test` runs: the build, then lint, unused files and packages, format, types, the documents' site and 2 000
// simulated universes, two at a time and cached by Nx, then every spec, those of the console and the site in a browser,
// then those that need a real Kafka, MongoDB-compatible server and Redis (test/services starts them). The last lines name
// the slowest specs, how long each part took and what failed; the very last is the verdict.
//
//   node tools/test.mjs                   everything
//   node tools/test.mjs <vitest filter>   only these, e.g. libs/thread, test/cluster or test/architecture -t cycle;
//                                         those of the long tier are test/long, test/failover/failover,
//                                         test/upgrades/rolling and test/fuzz/mutants
//   node tools/test.mjs --all [--seed N] [--minutes M] [--universes U]
//                                         everything, uncached, then the long specs, all orders of the race
//                                         matrix, a tool server in Python, Schemathesis, 5 minutes of fuzzing, U (20 000) more
//                                         universes and M (10) minutes of chaos on real servers, all of seed N, which is
//                                         printed and by default another one each time
//   node tools/test.mjs --upgrades        only whether this release reads what earlier ones have left, and runs beside the
//                                         one before it: test/upgrades
//   node tools/test.mjs --deploy          only image and chart, with what takes minutes: programs that are built once, an API
//                                         server of Kubernetes, an image that is built and run
//   node tools/test.mjs --traces          only how a Phoenix shows our traces: it needs Python, and installs 900 MB once
//
// N counts the specs' tests; every other step counts as one test, and so does a spec file that could not be loaded.
// Specs are never cached: many draw random cases.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFlags, refuse } from './flags.ts';

const usage = `npm test -- [path …] [-t title]: build, checks and specs; the last line is the verdict

  path       only the specs whose path has this in it, such as libs/thread or test/console
  -t title   only those with this in their title; other flags go to vitest
  --help     this text

Others: npm run test:all, npm run test:upgrades, npm run test:deploy, npm run test:traces.`;
const longUsage = `npm run test:all -- [options]: everything, uncached, and what takes long; about 100 minutes

  --seed N        of the universes, of fuzzing and of chaos (default: another one each time, which is printed)
  --minutes M     of chaos on real servers (default 10)
  --universes U   simulated ones more (default 20000)
  --help          this text`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (process.argv[2] !== '--all' && process.argv.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
const long = process.argv[2] === '--all' ? longRun(process.argv.slice(3)) : null;
const tracesOnly = process.argv[2] === '--traces';
const deployOnly = process.argv[2] === '--deploy';
const upgradesOnly = process.argv[2] === '--upgrades';
const filter = filterOf(process.argv.slice(2));
/** The exit code of a step that this machine cannot run. */
const cannot = 77;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const simulator = [join(root, 'node_modules/@dormouse/testing/dist/simulator/main.js')];
const chaos = ['--conditions=dormouse-source', join(root, 'test/chaos/main.ts')];
const slowestShown = 10;
/** What V8 has compiled, kept from run to run: the specs start the programs hundreds of times. */
const compiled = join(root, 'node_modules/.cache/compiled');
/**
 * @type {{ passed: number, failed: { name: string, reason: string }[], skipped: { name: string, reason: string }[] }}
 */
const total = { passed: 0, failed: [], skipped: [] };
const running = new Set();
let signalled = false;
/** @type {{ title: string, ms: number }[]} */
const parts = [];
/** @type {{ file: string, ms: number }[]} */
const files = [];

if (tracesOnly) await traces();
else if (deployOnly) await deployment();
else if (upgradesOnly) await upgrades();
else await everything();
verdict();

async function traces() {
  await target('build');
  await specs('traces in Phoenix', 'vitest.traces.config.ts');
}

async function deployment() {
  await target('build');
  await specs('image and chart', 'vitest.deploy.config.ts');
}

async function upgrades() {
  await target('build');
  await specs('data directories of before', 'vitest.config.ts');
  await specs('collections and topics of before', 'vitest.cluster.config.ts');
  await specs('releases side by side', 'vitest.long.config.ts');
}

function filterOf(args) {
  if (upgradesOnly) return ['test/upgrades'];
  return long === null && !tracesOnly && !deployOnly ? args : [];
}

async function everything() {
  if (filter.length === 0) {
    await target('build');
    const rest = ['types', 'simulation', 'docs', 'lint', 'format', 'unused'];
    const worker = async () => {
      for (let name = rest.shift(); name !== undefined; name = rest.shift()) await target(name);
    };
    await Promise.all([worker(), worker()]);
  }
  const needsServers = /^test\/(cluster|chaos|upgrades\/cluster)/.test(filter[0] ?? '');
  const isLong = /^test\/(long|failover\/failover|upgrades\/rolling|fuzz\/mutants)/.test(filter[0] ?? '');
  const needsBrowser = /^test\/(console|site)/.test(filter[0] ?? '');
  if (!needsServers && !isLong && !needsBrowser) await specs('specs', 'vitest.config.ts');
  if (needsBrowser || filter.length === 0) await specs('specs in a browser', 'vitest.console.config.ts');
  if (needsServers || filter.length === 0) await specs('specs on real servers', 'vitest.cluster.config.ts');
  if (isLong || long !== null) await specs('specs that take minutes', 'vitest.long.config.ts');
  if (long !== null) {
    const { seed, minutes, universes } = long;
    const from = String(seed * universes);
    await check('race matrix, all orders', [
      '--conditions=dormouse-source',
      join(root, 'test/simulation/race-matrix.ts'),
    ]);
    await check('a tool server in Python', ['--conditions=dormouse-source', join(root, 'test/python/main.ts')]);
    await check(
      'the OpenAPI document, by Schemathesis',
      [join(root, 'test/schemathesis/main.ts')],
      ...['--seed', String(seed)],
    );
    await check(
      `fuzz, 5 minutes, seed ${seed}`,
      [join(root, 'test/fuzz/main.ts')],
      ...['--seed', String(seed), '--minutes', '5'],
    );
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
}

function longRun(args) {
  const options = {
    seed: { type: 'string', default: String(1 + (Date.now() % 99_999)) },
    minutes: { type: 'string', default: '10' },
    universes: { type: 'string', default: '20000' },
  };
  const { values } = readFlags(longUsage, options, { args });
  const order = { seed: Number(values.seed), minutes: Number(values.minutes), universes: Number(values.universes) };
  if (!Object.values(order).every((number) => number >= 0))
    refuse('--seed, --minutes, --universes: numbers.', 'npm run test:all');
  console.log(`seed ${order.seed}: again with npm run test:all -- --seed ${order.seed}`);
  return order;
}

/** A target of project.json. */
function target(title) {
  const flags = long === null ? [] : ['--skip-nx-cache'];
  return check(title, 'nx/dist/bin/nx.js', 'run', `dormouse:${title}`, '--outputStyle=static', ...flags, {
    beside: true,
  });
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
      env: { DORMOUSE_TEST_SUMMARY: summary },
    });
    const counted = JSON.parse(readFileSync(summary, 'utf8'));
    total.passed += counted.passed;
    total.failed.push(...counted.failed);
    if (exitCode !== 0 && counted.failed.length === 0)
      total.failed.push({ name: title, reason: `vitest ended with ${exitCode}: see above` });
    total.skipped.push(...counted.skipped);
    files.push(...counted.files.map(({ file, ms }) => ({ file: `${file} (${title})`, ms })));
  } catch (error) {
    total.failed.push({ name: title, reason: `it left no summary: ${error.message}` });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a script of a dependency, or Node with the given arguments, and prints how long it took. The last argument may
 * have extra environment, or say that another step runs beside this one: what it prints is then shown at its end. A signal
 * is passed on, and the children have ended before this process does.
 */
async function step(title, script, ...args) {
  const { env = {}, beside = false } = typeof args.at(-1) === 'object' ? args.pop() : {};
  if (!beside) console.log(`\n── ${title}`);
  const began = Date.now();
  const told = Array.isArray(script) ? script : [join(root, 'node_modules', script)];
  const child = spawn(process.execPath, [...told, ...args], {
    cwd: root,
    stdio: beside ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...env },
  });
  running.add(child);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const pass = (signal) => {
    signalled = true;
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal); // a terminal's Ctrl-C has reached it already
  };
  for (const signal of signals) process.on(signal, pass);
  const status = await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
  for (const signal of signals) process.off(signal, pass);
  const ms = Date.now() - began;
  parts.push({ title, ms });
  running.delete(child);
  if (beside) process.stdout.write(`\n── ${title}\n${Buffer.concat(printed).toString()}`);
  const ended = signalled ? 'interrupted' : status === 0 ? 'passed' : status === cannot ? 'skipped' : 'FAILED';
  console.log(`── ${title}: ${ended} after ${seconds(ms)}`);
  if (!signalled) return status;
  if (running.size === 0) process.exit(130);
  return new Promise(() => {}); // the step beside it ends the process
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function verdict() {
  const { passed, failed, skipped } = total;
  const slowest = files.sort((one, other) => other.ms - one.ms).slice(0, slowestShown);
  console.log();
  for (const { file, ms } of slowest) console.log(`${seconds(ms).padStart(8)}  ${file}`);
  console.log(`parts: ${parts.map(({ title, ms }) => `${title} ${seconds(ms)}`).join(', ')}`);
  for (const { name, reason } of skipped) console.log(`skipped: ${name} (${reason})`);
  for (const { name, reason } of failed) console.log(`FAILED: ${name}\n  ${reason}`);
  if (long !== null) console.log(`seed ${long.seed}`);
  console.log(`${passed} passed, ${failed.length} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
