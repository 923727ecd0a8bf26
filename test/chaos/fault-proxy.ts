// A TCP proxy that can be slowed down, hold back one direction or both, cut connections, and refuse all of them. Stands
// between the services and a server, or in front of several instances of a service.
//
// Invariants:
//   F1. Bytes are delayed or held, never changed, dropped or reordered: a network may be slow or gone, TCP keeps its
//       order.
//   F2. With several targets each connection goes to the next one that listens.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Held = 'nothing' | 'to server' | 'to client' | 'both';

export interface FaultProxy {
  readonly port: number;
  /** Ports on loopback. */
  targets: readonly number[];
  /** Added to each piece of data, each way. */
  latencyMs: number;
  held: Held;
  /** Ends every connection with a reset. */
  cut(): void;
  close(): Promise<void>;
}

const holdPollMs = 10;

export async function startFaultProxy(targets: readonly number[] = []): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true }, (client) => {
    sockets.add(client);
    client.on('error', () => client.destroy());
    client.on('close', () => sockets.delete(client));
    void serve(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function serve(client: Socket): Promise<void> {
    const upstream = await reach();
    if (upstream === null) return void client.resetAndDestroy();
    sockets.add(upstream);
    upstream.on('close', () => sockets.delete(upstream));
    void carry(client, upstream, 'to server');
    void carry(upstream, client, 'to client');
  }

  /** (F2) */
  async function reach(): Promise<Socket | null> {
    for (let tries = 0; tries < proxy.targets.length; tries += 1) {
      const port = proxy.targets[turn++ % proxy.targets.length] ?? 0;
      const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
      try {
        await once(upstream, 'connect');
        upstream.on('error', () => upstream.destroy());
        return upstream;
      } catch {
        upstream.destroy(); // nothing listens there now
      }
    }
    return null;
  }

  /** (F1) */
  async function carry(from: Socket, to: Socket, way: Exclude<Held, 'nothing' | 'both'>): Promise<void> {
    try {
      for await (const piece of from as AsyncIterable<Buffer>) {
        if (proxy.latencyMs > 0) await sleep(proxy.latencyMs);
        while ((proxy.held === way || proxy.held === 'both') && !to.destroyed) await sleep(holdPollMs);
        if (to.destroyed) break;
        if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      }
      to.end();
    } catch {
      to.destroy(); // the other side was reset
    }
  }

  const proxy: FaultProxy = {
    port: (server.address() as AddressInfo).port,
    targets,
    latencyMs: 0,
    held: 'nothing',
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
