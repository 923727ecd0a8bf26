// Runs one seed and reports the verdict; twice on request, because a universe that does not repeat proves nothing.
import type { Mutant } from './mutant.ts';
import type { Topology } from './world/topology.ts';
import { runUniverse, type UniverseResult } from './world/universe.ts';

export interface SeedOrder {
  readonly seed: number;
  readonly topology: Topology;
  readonly mutant?: Mutant;
  readonly readable?: boolean;
  readonly twice?: boolean;
}

/** Errors that escaped every handler while a universe ran: bugs of our own. */
const escaped: unknown[] = [];
let listening = false;

export async function judgeSeed({ twice = false, ...options }: SeedOrder): Promise<UniverseResult> {
  listen();
  const result = withEscaped(await runUniverse(options));
  if (!twice) return result;
  const again = withEscaped(await runUniverse({ ...options, readable: false }));
  if (again.hash === result.hash) return result;
  const text = `the seed does not repeat: ${result.hash} after ${result.steps} steps, then ${again.hash} after ${again.steps}`;
  return { ...result, violations: [...result.violations, { id: 'I-16', text }] };
}

function listen(): void {
  if (listening) return;
  listening = true;
  process.on('unhandledRejection', (reason) => void escaped.push(reason));
}

function withEscaped(result: UniverseResult): UniverseResult {
  const texts = escaped
    .splice(0)
    .map((reason) => `nobody caught ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`);
  return { ...result, violations: [...result.violations, ...texts.map((text) => ({ id: 'I-24', text }) as const)] };
}
