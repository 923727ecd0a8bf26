// `npm run sim`: searches seeds, or shows one. `usage` explains the arguments.
import { parseArgs } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { judgeSeed } from './judge-seed.ts';
import { mutants } from './mutants.ts';
import { rarePaths } from './rare-paths.ts';
import { type RangeReport, runRange } from './seed-range.ts';
import { type Topology, topologyOf } from './world/topology.ts';

const usage = `npm run sim -- [options]: runs the real services in simulated universes and checks what they promise

  --seeds N --from N   a range of seeds, in both topologies in a fixed rhythm (default 200 from 0)
  --seed N             one universe, one line per step: time, node, what
  --topology NAME      durable | standalone
  --break NAME         with this mutant in it, which must be caught; list names them
  --json               the report, or the universe, as JSON
  --help               this text

Ends with 1 when an invariant is violated, a seed does not repeat, or (over enough seeds) a rare path was never taken.`;

const options = {
  help: { type: 'boolean', short: 'h', default: false },
  seeds: { type: 'string', default: '200' },
  from: { type: 'string', default: '0' },
  seed: { type: 'string' },
  topology: { type: 'string' },
  break: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return explain();
  const topology = readTopology(values.topology);
  const mutant = values.break ?? null;
  if (mutant === 'list') return list();
  if (mutant !== null && mutants[mutant] === undefined)
    throw new RangeError(`there is no mutant "${mutant}"; --break list names them`);
  if (values.seed !== undefined) return show(readNumber('seed', values.seed), topology, mutant, values.json);
  const began = performance.now();
  const report = await runRange({
    from: readNumber('from', values.from),
    seeds: readNumber('seeds', values.seeds),
    topology,
    mutant,
    twiceEvery: 10,
  });
  const seconds = (performance.now() - began) / 1_000;
  if (values.json) say(JSON.stringify({ ...report, seconds }, null, 2));
  else print(report, seconds, mutant);
  const isBlind = report.neverTaken.durable.length + report.neverTaken.standalone.length > 0;
  return report.failed.length > 0 || (isBlind && mutant === null) ? 1 : 0;
}

function explain(): number {
  say(usage);
  return 0;
}

function list(): number {
  for (const [name, { breaks, harmlessBecause, topology = 'durable' }] of Object.entries(mutants))
    say(
      `${name.padEnd(28)} ${topology.padEnd(10)} ${breaks}${harmlessBecause === undefined ? '' : ` (harmless: ${harmlessBecause})`}`,
    );
  return 0;
}

async function show(seed: number, asked: Topology | null, mutant: string | null, json: boolean): Promise<number> {
  const broken = mutant === null ? undefined : mutants[mutant];
  const topology = asked ?? broken?.topology ?? topologyOf(seed);
  const result = await judgeSeed({
    seed,
    topology,
    readable: true,
    twice: true,
    ...(broken === undefined ? {} : { mutant: broken }),
  });
  if (json) {
    say(JSON.stringify({ ...result, topology, counters: Object.fromEntries(result.counters) }, null, 2));
    return result.violations.length > 0 ? 1 : 0;
  }
  for (const line of result.lines) say(line);
  say(
    `\nseed ${seed}, ${topology}${mutant === null ? '' : `, broken: ${mutant}`}: ${result.steps} steps, ${result.commits} commits, trace ${result.hash}`,
  );
  for (const { id, text } of result.violations) say(`${id} ${text}`);
  say(result.violations.length === 0 ? 'no violation' : `${result.violations.length} violations`);
  return result.violations.length > 0 ? 1 : 0;
}

const failuresShown = 10;

function print(report: RangeReport, seconds: number, mutant: string | null): void {
  const { seeds, failed, commits, steps, runTwice } = report;
  for (const { seed, topology, violations } of failed.slice(0, failuresShown)) {
    say(
      `seed ${seed} (${topology}): ${violations.length} violations; npm run sim -- --seed ${seed} --topology ${topology}${mutant === null ? '' : ` --break ${mutant}`}`,
    );
    for (const { id, text } of violations.slice(0, 3)) say(`  ${id} ${text}`);
  }
  for (const topology of ['durable', 'standalone'] as const) {
    if (seeds[topology] === 0) continue;
    say(`\n${topology}, ${seeds[topology]} seeds: how often the rare paths were taken`);
    for (const path of rarePaths[topology])
      say(`  ${String(report.counters[topology][path] ?? 0).padStart(9)}  ${path}`);
    for (const path of report.neverTaken[topology]) say(`  NEVER TAKEN: ${path}. This run proves nothing about it.`);
  }
  const total = seeds.durable + seeds.standalone;
  say(
    `\n${total} seeds (${seeds.durable} durable, ${seeds.standalone} standalone), ${runTwice} of them twice: ${failed.length} failed; ${commits} commits, ${steps} steps, ${seconds.toFixed(1)} s`,
  );
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`--${name} takes a whole number, not "${text}"`);
  return value;
}

function readTopology(text: string | undefined): Topology | null {
  if (text === undefined) return null;
  if (text === 'durable' || text === 'standalone') return text;
  throw new RangeError(`--topology takes durable or standalone, not "${text}"`);
}

if (isMainThread) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\nnpm run sim -- --help says what there is.\n`);
    process.exitCode = 2;
  }
}
