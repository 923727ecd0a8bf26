import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function echoServer(): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function through(proxy: FaultProxy): Promise<{ readonly socket: Socket; readonly heard: () => string }> {
  const socket = connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (piece: Buffer) => (text += piece.toString()));
  socket.on('error', () => socket.destroy());
  closing.push(() => void socket.destroy());
  return { socket, heard: () => text };
}

async function proxyOf(...targets: readonly number[]): Promise<FaultProxy> {
  const proxy = await startFaultProxy(targets);
  closing.push(() => proxy.close());
  return proxy;
}

describe('the fault proxy', () => {
  it('F1 carries every byte both ways, in order, slow or not', async () => {
    const proxy = await proxyOf(await echoServer());
    const { socket, heard } = await through(proxy);
    const sent = Array.from({ length: 200 }, (_, index) => `${index},`);
    for (const [index, piece] of sent.entries()) {
      proxy.latencyMs = index % 3;
      socket.write(piece);
    }
    await expect.poll(heard).toBe(sent.join(''));
  });

  it('F1 holds one direction, and gives everything when it is let go', async () => {
    const proxy = await proxyOf(await echoServer());
    const { socket, heard } = await through(proxy);
    proxy.held = 'to client';
    socket.write('hello');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard()).toBe('');
    proxy.held = 'nothing';
    await expect.poll(heard).toBe('hello');
  });

  it('F2 goes to the next target that listens', async () => {
    const proxy = await proxyOf(1, await echoServer());
    for (let connection = 0; connection < 4; connection += 1) {
      const { socket, heard } = await through(proxy);
      socket.write('x');
      await expect.poll(heard).toBe('x');
    }
  });

  it('cuts what is connected, and lets the next one in', async () => {
    const proxy = await proxyOf(await echoServer());
    const { socket } = await through(proxy);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    proxy.cut();
    await closed;
    const { socket: again, heard } = await through(proxy);
    again.write('again');
    await expect.poll(heard).toBe('again');
  });
});
