// Ports for servers of tests.
//
// Invariant:
//   P1. They are below those that the system gives to outgoing connections: between our look and the server's start thousands of
//       connections are made on a busy machine, and one of them would take the port sooner or later.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Linux gives from 32768 on, others from 49152. */
const lowest = 22_000;
const highest = 32_000;
const triesMax = 200;

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest);
    const server = createServer();
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return port;
    } catch {
      // taken: another
    } finally {
      server.close();
    }
  }
  throw new Error(`no free port from ${lowest} to ${highest}`);
}

/** All different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
