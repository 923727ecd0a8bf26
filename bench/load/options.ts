// The command line of `npm run bench:load`.
import { parseArgs } from 'node:util';

export interface LoadOptions {
  readonly topology: 'cluster' | 'standalone';
  readonly minutes: number;
  /** Messages per second of all tenants together; each is a turn. */
  readonly rate: number;
  readonly tenants: number;
  /** Of each tenant. */
  readonly threads: number;
  readonly modelMs: number;
  readonly toolMs: number;
  readonly cores: number;
  readonly isJson: boolean;
}

export const usage = `npm run bench:load [-- --minutes 10] [--rate 50] [--tenants 20] [--topology cluster|standalone] [--json]

  --minutes   of load, after ten seconds of warming up; 60 at most
  --rate      user turns per second of all tenants together
  --tenants   how many
  --threads   of each tenant; 20
  --model-ms  how long the model takes for each of the two completions of a turn; 200
  --tool-ms   how long the tool takes; 50
  --cores     for everything together: services, servers, clients, model, tools; 2
  --json      prints the result as JSON

Ends with 1 if a promise was broken, or a message was never answered; times alone never make it fail.
`;

export class Mistake extends Error {}

const most = { minutes: 60, rate: 10_000, tenants: 200, threads: 1_000, modelMs: 60_000, toolMs: 60_000, cores: 64 };

/** Null when help is wanted. @throws Mistake */
export function parseLoadOptions(args: readonly string[]): LoadOptions | null {
  const { topology = 'cluster', help, json = false, ...given } = read(args);
  if (help === true) return null;
  if (topology !== 'cluster' && topology !== 'standalone')
    throw new Mistake(`--topology ${topology}: there are cluster and standalone`);
  const number = (name: keyof typeof most, flag: keyof typeof given, standard: number): number => {
    const value = given[flag] === undefined ? standard : Number(given[flag]);
    if (value > 0 && value <= most[name]) return value;
    throw new Mistake(`--${flag} ${given[flag] ?? ''}: a number above 0 and up to ${most[name]} is wanted`);
  };
  return {
    topology,
    minutes: number('minutes', 'minutes', 10),
    rate: number('rate', 'rate', 50),
    tenants: Math.ceil(number('tenants', 'tenants', 20)),
    threads: Math.ceil(number('threads', 'threads', 20)),
    modelMs: number('modelMs', 'model-ms', 200),
    toolMs: number('toolMs', 'tool-ms', 50),
    cores: Math.ceil(number('cores', 'cores', 2)),
    isJson: json,
  };
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{ topology: text, minutes: text, rate: text, tenants: text, threads: text },
        ...{ 'model-ms': text, 'tool-ms': text, cores: text, json: flag, help: flag },
      },
    }).values;
  } catch (error) {
    throw new Mistake((error as Error).message);
  }
}
