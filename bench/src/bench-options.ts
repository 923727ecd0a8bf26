// The command line of the bench: what is measured and how long.
import { parseArgs } from 'node:util';

export const scenarioNames = ['turns', 'counts', 'growing', 'sleepers', 'cluster', 'observability'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

const onRequest: ReadonlySet<ScenarioName> = new Set(['cluster', 'observability']);

export interface BenchOptions {
  readonly scenarios: readonly ScenarioName[];
  readonly quick: boolean;
  readonly rounds: number;
  /** Measured time of one contestant at one number of threads in one round. */
  readonly seconds: number;
  readonly threads: readonly number[];
  /** Names; null: all that are installed, except those that run on request only. */
  readonly contestants: readonly string[] | null;
  readonly withPeers: boolean;
  /** Root of another checkout for the scenario `observability`. */
  readonly beside: string | null;
  /** Where the results go, besides bench/results. */
  readonly json: string | null;
  readonly sleepers: number;
  readonly sleepSeconds: number;
  /** Keeps the directory with data and output. */
  readonly keep: boolean;
}

export const usage = `npm run bench -- [options]

  --scenario NAME     ${scenarioNames.join(' | ')}; repeatable (default: all but the last two)
  (cluster starts a real Kafka, a MongoDB-compatible server and Redis; the first time it builds them)
  --quick             everything small, in about a minute: shows that it works, not how fast it is
  --rounds N          interleaved rounds of one-tool turns (default 10; quick 2)
  --seconds S         measured seconds per contestant, number of threads and round (default 2; quick 1)
  --threads 1,8,64    threads that talk at once
  --contestant NAME   dormouse | tutorial-fetch | tutorial-undici | restate | restate-lean | floor |
                      unsealed; repeatable (default: all but the last three)
  --with-peers        installs bench/peers first (Express, undici, Restate: 230 MB)
  --beside DIR        observability: another checkout of this repository, built, measured in the same rounds
  --sleepers N        sleeping threads (default 100000; quick 2000)
  --sleep-seconds S   how long their idling is watched (default 20; quick 5)
  --json FILE         writes the results there too
  --keep              keeps data and logs of the run
  --help              this text
`;

/** Whether an error is the user's: an unknown option, or a value that an option does not have. */
export const isMistake = (error: unknown): error is TypeError =>
  error instanceof TypeError && (!('code' in error) || String(error.code).startsWith('ERR_PARSE_ARGS'));

/** @throws TypeError with a sentence for the user. */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenario: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      threads: { type: 'string' },
      contestant: { type: 'string', multiple: true },
      beside: { type: 'string' },
      'with-peers': { type: 'boolean', default: false },
      sleepers: { type: 'string' },
      'sleep-seconds': { type: 'string' },
      json: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick } = values;
  return {
    scenarios: values.scenario?.map(scenarioOf) ?? scenarioNames.filter((name) => !onRequest.has(name)),
    quick,
    rounds: count('rounds', values.rounds, quick ? 2 : 10),
    seconds: count('seconds', values.seconds, quick ? 1 : 2),
    threads: values.threads?.split(',').map((text) => count('threads', text, 1)) ?? [1, 8, 64],
    contestants: values.contestant ?? null,
    beside: values.beside ?? null,
    withPeers: values['with-peers'],
    json: values.json ?? null,
    sleepers: count('sleepers', values.sleepers, quick ? 2_000 : 100_000),
    sleepSeconds: count('sleep-seconds', values['sleep-seconds'], quick ? 5 : 20),
    keep: values.keep,
  };
}

function scenarioOf(text: string): ScenarioName {
  const found = scenarioNames.find((name) => name === text);
  if (found === undefined) throw new TypeError(`--scenario ${text}: there are ${scenarioNames.join(', ')}`);
  return found;
}

function count(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new TypeError(`--${name} ${text}: a number above 0 is wanted`);
  return value;
}
