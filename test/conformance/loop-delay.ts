// How long the processes of a system hold up their own event loops while something is done to it. What the machine takes away
// for others does not count, so the promise can be held on one that runs other tests beside this one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const preload = new URL('loop-delay-preload.ts', import.meta.url);

/** Milliseconds. */
export interface LoopDelay {
  /** Of a hundred looks at an event loop, 99 were held up at most this long. */
  readonly p99: number;
  readonly max: number;
}

/** Of a system. */
export interface WorstDelay extends LoopDelay {
  /** Processes that answered: one that is missing the next time has died. */
  readonly pids: readonly string[];
}

/** The environment of processes that are to be watched; their ports stand in the directory. */
export const watchedFrom = (directory: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload.href}`.trim(),
  LOOP_DELAY_DIRECTORY: directory,
});

/** The worst of the system's processes since it was last asked. Those that have ended by now were only there to set it up. */
export async function loopDelay(directory: string): Promise<WorstDelay> {
  const asked = readdirSync(directory).map(async (pid) => {
    const answer = await fetch(`http://127.0.0.1:${readFileSync(join(directory, pid), 'utf8')}/`).catch(() => null);
    return answer === null ? [] : [{ pid, ...((await answer.json()) as LoopDelay) }];
  });
  const each = (await Promise.all(asked)).flat();
  if (each.length === 0) throw new Error('no process is watched');
  return {
    p99: Math.max(...each.map(({ p99 }) => p99)),
    max: Math.max(...each.map(({ max }) => max)),
    pids: each.map(({ pid }) => pid).sort(),
  };
}
