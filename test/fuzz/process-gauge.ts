// What the processes of a system hold, and whether they are the ones that were there before.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';

const preload = new URL('process-gauge-preload.ts', import.meta.url);

export interface Held {
  /** Of the heap and beside it, after a collection. */
  readonly bytes: number;
  readonly sockets: number;
}

/** The environment of processes that are gauged; their sockets stand in the directory. */
export const gaugedFrom = (directory: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${preload.href}`.trim(),
  PROCESS_GAUGE_DIRECTORY: directory,
});

/** By process id. One that has ended is absent. */
export async function heldBy(directory: string): Promise<ReadonlyMap<string, Held>> {
  const asked = readdirSync(directory).map(async (pid) => {
    const held = await heldAt(join(directory, pid)).catch(nullIfEnded);
    return held === null ? [] : [[pid, held] as const];
  });
  return new Map((await Promise.all(asked)).flat());
}

/** The socket of a process that has ended refuses connections. */
function nullIfEnded(error: NodeJS.ErrnoException): null {
  if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET' || error.code === 'ENOENT') return null;
  throw error;
}

async function heldAt(socketPath: string): Promise<Held> {
  const [answer] = (await once(get({ socketPath, agent: false }), 'response')) as [IncomingMessage];
  return (await json(answer)) as Held;
}
