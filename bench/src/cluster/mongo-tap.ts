// A proxy between a service and its store that counts the commands, by name and collection. For counts, never for
// times: it adds a process to the path.
//
// Source: MongoDB wire protocol, OP_MSG (2013): 16 bytes of header, 4 of flags, then a section of kind 0 with the
// command, whose first element names it.
import { createServer, connect, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface MongoTap {
  /** The store's URL through this proxy. */
  readonly url: string;
  /** Commands since the last call, as `insert commits`, `find commits`, `ping`. */
  take(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const opMsg = 2_013;

export async function tapMongo(url: string): Promise<MongoTap> {
  const behind = new URL(url);
  let counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const store = connect(Number(behind.port), behind.hostname);
    store.setNoDelay(true);
    client.setNoDelay(true);
    let pending: Buffer = Buffer.alloc(0);
    client.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      pending = readMessages(pending, (name) => counts.set(name, (counts.get(name) ?? 0) + 1));
    });
    client.pipe(store).pipe(client);
    for (const socket of [client, store]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => void sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tapped = new URL(url);
  tapped.port = String((server.address() as AddressInfo).port);
  return {
    url: tapped.href,
    take: () => {
      const taken = counts;
      counts = new Map();
      return taken;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Names every complete message; returns the rest of the last one. */
function readMessages(bytes: Buffer, counted: (name: string) => void): Buffer {
  let at = 0;
  while (bytes.length - at >= 16) {
    const length = bytes.readInt32LE(at);
    if (length < 16 || bytes.length - at < length) break;
    if (bytes.readInt32LE(at + 12) === opMsg) counted(commandOf(bytes.subarray(at + 20, at + length)));
    at += length;
  }
  return bytes.subarray(at);
}

/** Of the first section of kind 0: the first element's name, and its value where that is a string (a collection). */
function commandOf(sections: Buffer): string {
  if (sections[0] !== 0) return 'other';
  const type = sections[5];
  const end = sections.indexOf(0, 6);
  const name = sections.toString('latin1', 6, end);
  if (type !== 2) return name;
  const length = sections.readInt32LE(end + 1);
  return `${name} ${sections.toString('latin1', end + 5, end + 4 + length)}`;
}
