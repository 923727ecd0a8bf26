// The ports of a process, before anything is made: callback URLs carry the port, so it must be known before anything
// starts, and a start that cannot listen leaves nothing behind.
import { createServer } from 'node:net';

/** The port; for 0 any free one. @throws EADDRINUSE, EACCES, EADDRNOTAVAIL when this process could not listen on it. */
export async function resolvePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(port, host, resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return address.port;
}
