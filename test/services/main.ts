// `npm run services`: the servers of a cluster, kept running. Only NAME=value lines go to stdout, all else to stderr.
import { join } from 'node:path';
import { readFlags } from '../../tools/flags.ts';
import { type KeptState, keptService } from './kept-service.ts';
import { recipes } from './recipes.ts';

const usage = `npm run services -- up|down|status|logs [kafka|mongo|redis …] [options]

  up             starts what does not run, leaves it running, and prints what the tests read, one NAME=value a line
  down, status   ends them; says which run, and where
  logs           the last lines of each

  --lines N        of each log (default 40)
  --directory DIR  where they keep their data (default .cache/services)
  --json           the states as JSON
  --help           this text

Ends with 1 when one of them is not up, with 2 for an invalid request.
`;

const { values, positionals } = readFlags(
  usage,
  {
    directory: { type: 'string', default: join(import.meta.dirname, '..', '..', '.cache', 'services') },
    lines: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
  { positionals: true },
);
const [command = '', ...names] = positionals;
const unknown = names.filter((name) => recipes.every((recipe) => recipe.name !== name));
const wanted = recipes.filter((recipe) => names.length === 0 || names.includes(recipe.name));
const kept = wanted.map((recipe) => ({ recipe, service: keptService(recipe, values.directory) }));

const say = (text: string): void => void process.stderr.write(text);
const commands: Readonly<Record<string, () => Promise<number>>> = { up, down, status, logs };
const run = commands[command];
if (run === undefined || unknown.length > 0) {
  say(unknown.length > 0 ? `there is no service ${unknown.join(', ')}\n${usage}` : usage);
  process.exit(2);
}
process.exit(await run());

async function up(): Promise<number> {
  const states = await Promise.all(kept.map(({ service }) => service.up(say)));
  return report(states, (state, { variable }) => {
    if (state.state === 'up' || state.state === 'given') return `${variable}=${state.url}\n`;
    return '';
  });
}

async function down(): Promise<number> {
  await Promise.all(kept.map(({ service }) => service.down()));
  if (values.json) process.stdout.write('[]\n');
  return 0;
}

async function status(): Promise<number> {
  const states = kept.map(({ service }) => service.state());
  return report(states, (state, { name }) => {
    const pids = 'pids' in state && state.pids.length > 0 ? `  pid ${state.pids.join(' ')}` : '';
    const url = 'url' in state && state.url !== null ? `  ${state.url}` : '';
    return `${name.padEnd(6)} ${state.state.padEnd(8)}${url}${pids}\n`;
  });
}

async function logs(): Promise<number> {
  for (const { recipe, service } of kept)
    for (const [file, lines] of service.lastLines(Number(values.lines)))
      process.stdout.write(lines.map((line) => `${recipe.name}/${file}: ${line}\n`).join(''));
  return 0;
}

function report(
  states: readonly KeptState[],
  line: (state: KeptState, recipe: (typeof wanted)[number]) => string,
): number {
  const pairs = states.flatMap((state, place) => {
    const recipe = wanted[place];
    return recipe === undefined ? [] : [{ state, recipe }];
  });
  for (const { state, recipe } of pairs)
    if (state.state === 'refused') say(`${recipe.name}: ${state.reason} ${state.remedy}\n`);
  if (values.json) {
    const all = pairs.map(({ state, recipe: { name, variable } }) => ({ name, variable, ...state }));
    process.stdout.write(`${JSON.stringify(all)}\n`);
  } else process.stdout.write(pairs.map(({ state, recipe }) => line(state, recipe)).join(''));
  return states.every(({ state }) => state === 'up' || state === 'given') ? 0 : 1;
}
