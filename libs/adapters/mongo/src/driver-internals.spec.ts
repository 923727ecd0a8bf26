import mongoose from 'mongoose';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import './driver-internals.ts';

/** What the driver keeps of one connection. */
interface DriverConnection {
  readonly closed: boolean;
  command(namespace: object, command: object, options: { readonly socketTimeoutMS: number }): Promise<unknown>;
}

const require = createRequire(createRequire(import.meta.url).resolve('mongoose'));
const { Connection } = require('mongodb/lib/cmap/connection') as {
  readonly Connection: new (socket: Socket, options: object) => DriverConnection;
};
const { HostAddress, ns } = require('mongodb/lib/utils') as {
  readonly HostAddress: { fromString(text: string): object };
  readonly ns: (name: string) => object;
};

let server: Server;
const accepted: Socket[] = [];
beforeEach(async () => {
  server = createServer((socket) => accepted.push(socket.on('error', () => {}).pause()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of accepted.splice(0)) socket.destroy();
  server.close();
});

async function connected(): Promise<{ readonly socket: Socket; readonly connection: DriverConnection }> {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const hostAddress = HostAddress.fromString(`127.0.0.1:${port}`);
  const options = { hostAddress, id: 1, generation: 0, monitorCommands: false, tls: false };
  return { socket, connection: new Connection(socket, options) };
}

/** Longer than the time limit of the command. */
const settled = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([work.then(String, (error: unknown) => error), sleep(2_000, 'it waits for ever')]);

const networkError = expect.any(mongoose.mongo.MongoNetworkError);

it('D2 a command fails when its socket is being closed already', async () => {
  const { socket, connection } = await connected();
  socket.destroy();
  expect(connection.closed).toBe(false); // it learns of it a moment later
  expect(await settled(connection.command(ns('admin.$cmd'), { hello: 1 }, { socketTimeoutMS: 500 }))).toEqual(
    networkError,
  );
});

it('D2 a command fails when its socket is closed, without an error, before all of it is written', async () => {
  const { socket, connection } = await connected();
  const large = Buffer.alloc(8_000_000); // more than the system takes of a peer that does not read
  const sent = connection.command(ns('admin.$cmd'), { hello: 1, large }, { socketTimeoutMS: 60_000 });
  await sleep(100);
  socket.destroy();
  expect(await settled(sent)).toEqual(networkError);
});
