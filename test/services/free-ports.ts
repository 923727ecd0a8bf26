// Ports for servers of tests.
//
// Invariant:
//   P1. They are below those that the system gives to outgoing connections: between this check and the server's start
//       thousands of connections are made on a busy machine, and one of them would take the port sooner or later.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Linux gives from 32768 on, others from 49152. */
const lowestOfStretches = 10_000;
const lowest = 22_000;
const highest = 32_000;
const triesMax = 200;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${lowest} to ${highest}`);
}

/** The first of so many ports in a row, all of them free, below those that single servers get. */
export async function freeStretch(length: number): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const first = randomInt(lowestOfStretches, lowest - length);
    const taken = await takenPorts(Array.from({ length }, (_, nth) => first + nth));
    if (taken.length === 0) return first;
  }
  throw new Error(`no ${length} free ports in a row from ${lowestOfStretches} to ${lowest}`);
}

/** Those on which no other server could listen now. */
export async function takenPorts(ports: readonly number[]): Promise<readonly number[]> {
  const free = await Promise.all(ports.map(isFree));
  return ports.filter((_, nth) => free[nth] === false);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    server.close();
  }
}

/** All different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
