// One test server that stays: a keeper process of its own starts it by its recipe and holds it, long after the command
// that requested it has ended. Its processes are listed in a record.
//
// Invariants:
//   K1. Only processes of the record are signalled, and only while they are the recorded ones.
//   K2. A second request changes nothing: a complete one is left as it is; a damaged one is ended and started again,
//       with fresh data.
//   K3. The keeper alone writes the record, each time as a whole.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endProjectNow, isProjectRunning, linesOfProject } from './containers.ts';
import { underLock } from './file-lock.ts';
import { isRunning, type ProcessIdentity, signalTo } from './process-identity.ts';
import type { ServiceRecipe } from './service.ts';

export type ServiceRecord =
  | { readonly state: 'starting'; readonly keeper: ProcessIdentity }
  | {
      readonly state: 'up';
      readonly keeper: ProcessIdentity;
      readonly url: string;
      readonly servers: readonly ProcessIdentity[];
      /** The compose project, of a server in a container. */
      readonly project?: string | undefined;
    }
  | { readonly state: 'refused'; readonly reason: string; readonly remedy: string };

export type KeptState =
  | { readonly state: 'up'; readonly url: string; readonly pids: readonly number[] }
  /** Run by others, named by the environment: used, and never signalled. */
  | { readonly state: 'given'; readonly url: string }
  /** Started here, and a process of it is gone. */
  | { readonly state: 'damaged'; readonly url: string | null; readonly pids: readonly number[] }
  | { readonly state: 'starting' | 'down' }
  | { readonly state: 'refused'; readonly reason: string; readonly remedy: string };

const keeperProgram = fileURLToPath(new URL('./keeper.ts', import.meta.url));
const pollMs = 50;
const keeperEndsWithinMs = 40_000;
const serverEndsWithinMs = 10_000;

export interface KeptService {
  state(): KeptState;
  up(say: (text: string) => void): Promise<KeptState>;
  down(): Promise<void>;
  /** The last lines of its output, by file. */
  lastLines(count: number): ReadonlyMap<string, readonly string[]>;
}

/** `directory`: data, output and record of all kept services. */
export function keptService(recipe: ServiceRecipe, directory: string): KeptService {
  const place = join(directory, recipe.name);
  const locked = <Result>(say: (text: string) => void, work: () => Promise<Result>): Promise<Result> => {
    mkdirSync(directory, { recursive: true });
    const waiting = (): void => say(`${recipe.name}: another command is at it; waiting\n`);
    return underLock(`${place}.lock`, waiting, work);
  };
  const state = (): KeptState => {
    const given = process.env[recipe.variable];
    return given === undefined ? stateOf(readRecord(place)) : { state: 'given', url: given };
  };
  return {
    state,
    up: (say) =>
      locked(say, async () => {
        const now = state();
        if (now.state === 'up' || now.state === 'given') return now; // (K2)
        if (now.state !== 'starting') {
          await end(readRecord(place));
          rmSync(place, { recursive: true, force: true });
          mkdirSync(place, { recursive: true });
          startKeeper(recipe.name, place);
        }
        return whenStarted(place, say);
      }),
    down: () =>
      locked(
        () => {},
        async () => {
          await end(readRecord(place));
          rmSync(recordFile(place), { force: true });
        },
      ),
    lastLines: (count) => new Map([...linesOfContainer(place, count), ...linesOfFiles(place, recipe.outputs, count)]),
  };
}

type NamedLines = readonly (readonly [string, readonly string[]])[];

function linesOfFiles(place: string, outputs: readonly string[], count: number): NamedLines {
  return [...outputs, 'keeper.out'].flatMap((name) => {
    const file = join(place, name);
    const text = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : '';
    return text === '' ? [] : [[name, text.split('\n').slice(-count)] as const];
  });
}

function linesOfContainer(place: string, count: number): NamedLines {
  const record = readRecord(place);
  if (record?.state !== 'up' || record.project === undefined) return [];
  return [['container', linesOfProject(record.project, count)]];
}

const recordFile = (place: string): string => join(place, 'record.json');

function readRecord(place: string): ServiceRecord | null {
  if (!existsSync(recordFile(place))) return null;
  return JSON.parse(readFileSync(recordFile(place), 'utf8')) as ServiceRecord;
}

/** (K3) */
export function writeRecord(place: string, record: ServiceRecord): void {
  writeFileSync(`${recordFile(place)}.new`, JSON.stringify(record, null, 2));
  renameSync(`${recordFile(place)}.new`, recordFile(place));
}

function stateOf(record: ServiceRecord | null): KeptState {
  if (record === null) return { state: 'down' };
  if (record.state === 'refused') return record;
  const isKept = isRunning(record.keeper);
  if (record.state === 'starting') return isKept ? { state: 'starting' } : { state: 'damaged', url: null, pids: [] };
  const pids = record.servers.filter(isRunning).map(({ pid }) => pid);
  const isThere = record.project === undefined || isProjectRunning(record.project);
  const isWhole = isKept && isThere && pids.length === record.servers.length;
  return { state: isWhole ? 'up' : 'damaged', url: record.url, pids };
}

/** In a session of its own: it outlives this process and its terminal. */
function startKeeper(name: string, place: string): void {
  const output = openSync(join(place, 'keeper.out'), 'a');
  const keeper = spawn(process.execPath, [keeperProgram, name, place], {
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  // Before its first record only its end shows anything.
  keeper.once('exit', (code) => {
    if (!existsSync(recordFile(place)))
      writeRecord(place, { state: 'refused', reason: `the keeper ended with ${code}`, remedy: 'See keeper.out.' });
  });
  keeper.unref();
}

async function whenStarted(place: string, say: (text: string) => void): Promise<KeptState> {
  const output = join(place, 'keeper.out');
  for (let heard = 0; ; await sleep(pollMs)) {
    const said = existsSync(output) ? readFileSync(output, 'utf8') : '';
    if (said.length > heard) say(said.slice(heard));
    heard = said.length;
    const record = readRecord(place);
    const now = stateOf(record);
    if (record !== null && now.state !== 'starting') return now;
  }
}

/** (K1) */
async function end(record: ServiceRecord | null): Promise<void> {
  if (record === null || record.state === 'refused') return;
  if (signalTo(record.keeper, 'SIGTERM') && !(await isGone(record.keeper, keeperEndsWithinMs)))
    signalTo(record.keeper, 'SIGKILL');
  if (record.state === 'starting') return;
  // Left behind by a keeper that was killed.
  if (record.project !== undefined) endProjectNow(record.project);
  for (const server of record.servers)
    if (signalTo(server, 'SIGTERM') && !(await isGone(server, serverEndsWithinMs))) {
      signalTo(server, 'SIGKILL');
      await isGone(server, serverEndsWithinMs);
    }
}

async function isGone(one: ProcessIdentity, withinMs: number): Promise<boolean> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(pollMs)) if (!isRunning(one)) return true;
  return false;
}
