// How long the processes of a system block their own event loops during a test, in processor time: time that the
// machine gives to other processes does not count, so the limit holds on a machine that runs other tests too.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const preload = new URL('loop-delay-preload.ts', import.meta.url);

export interface LoopDelay {
  /** The longest that an event loop was blocked without a pause, as loop-holds.ts counts it. */
  readonly longestMs: number;
}

/** Of a system. */
export interface WorstDelay extends LoopDelay {
  /** Processes that answered: one that is missing the next time has died. */
  readonly pids: readonly string[];
}

/** The environment of watched processes; their sockets stand in the directory. */
export const watchedFrom = (directory: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload.href}`.trim(),
  LOOP_DELAY_DIRECTORY: directory,
});

/** The worst of the system's processes since the last request. Those that have ended only prepared the system. */
export async function loopDelay(directory: string): Promise<WorstDelay> {
  const asked = readdirSync(directory).map(async (pid) => {
    const answer = await delayOf(join(directory, pid)).catch(nullIfEnded);
    return answer === null ? [] : [{ pid, ...answer }];
  });
  const each = (await Promise.all(asked)).flat();
  if (each.length === 0) throw new Error('no process is watched');
  return {
    longestMs: Math.max(...each.map(({ longestMs }) => longestMs)),
    pids: each.map(({ pid }) => pid).sort(),
  };
}

/** The socket of a process that has ended refuses connections. */
function nullIfEnded(error: NodeJS.ErrnoException): null {
  if (error.code === 'ECONNREFUSED') return null;
  throw error;
}

async function delayOf(socketPath: string): Promise<LoopDelay> {
  const [answer] = (await once(get({ socketPath, agent: false }), 'response')) as [IncomingMessage];
  return (await json(answer)) as LoopDelay;
}
