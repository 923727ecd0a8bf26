// What TLS says where several servers cannot be asked: ioredis reports only that none of them answers.
import { connect, type ConnectionOptions } from 'node:tls';
import type { RedisNode } from './redis-address.ts';
import { nameOf } from './redis-client.ts';

export interface EncryptionProblem {
  readonly error: Error;
  /** It came after our side of the handshake: a server refuses our certificate then. */
  readonly hasConnected: boolean;
}

const withinMs = 2_000;

/** Of the first node that has one; null where all can be asked, or none is reached. */
export async function encryptionProblem(
  nodes: readonly RedisNode[],
  tls: ConnectionOptions | undefined,
): Promise<EncryptionProblem | null> {
  for (const node of nodes) {
    const problem = await problemAt(node, tls);
    if (problem !== null) return problem;
  }
  return null;
}

function problemAt(node: RedisNode, tls: ConnectionOptions | undefined): Promise<EncryptionProblem | null> {
  const { promise, resolve } = Promise.withResolvers<EncryptionProblem | null>();
  let hasConnected = false;
  const socket = connect({ ...node, ...nameOf(node.host), ...tls, timeout: withinMs });
  socket.once('secureConnect', () => {
    hasConnected = true;
    socket.write('PING\r\n');
  });
  socket.on('error', (error) => resolve({ error, hasConnected })); // another one may follow
  socket.once('data', () => resolve(null)); // an answer, if only that a password is missing
  socket.once('timeout', () => resolve(null));
  socket.once('close', () => resolve(null));
  return promise.finally(() => socket.destroy());
}
