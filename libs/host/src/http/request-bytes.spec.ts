import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { receiveBytes, type RequestBytes } from './request-bytes.ts';

let server: Server;
let told: (string | Error)[];
let meet: (payload: IncomingMessage) => void;
beforeEach(async () => {
  told = [];
  meet = () => {};
  server = createServer((request, response) => {
    meet(request);
    void receiveBytes(request, 10).then(
      ({ bytes, truncated }: RequestBytes) => {
        told.push(`${bytes.toString()}${truncated ? '…' : ''}`);
        response.end();
      },
      (error: Error) => told.push(error),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const head = (length: number): string => `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;
const dial = async (): Promise<Socket> => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

async function untilTold(count: number): Promise<void> {
  while (told.length < count) await turn();
}

it('R3 takes a body that came along with its head, and listens for nothing', async () => {
  let request: IncomingMessage | undefined;
  meet = (payload) => void (request = payload);
  const socket = await dial();
  socket.write(`${head(5)}hello`);
  await untilTold(1);
  expect(told).toEqual(['hello']);
  expect(request?.listenerCount('data')).toBe(0);
  socket.write(`${head(0)}`);
  await untilTold(2);
  expect(told).toEqual(['hello', '']); // and the connection is of use for the next
});

it('takes a body that comes in parts', async () => {
  const socket = await dial();
  for (const part of [head(8), 'he', 'll', 'o', '!!!']) {
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await untilTold(1);
  expect(told).toEqual(['hello!!!']);
});

it('R1 says that there was more than it takes, however it comes', async () => {
  const socket = await dial();
  socket.write(`${head(11)}hello world`);
  await untilTold(1);
  socket.write(head(200_000));
  for (let part = 0; part < 20; part++) {
    socket.write('x'.repeat(10_000));
    await turn();
  }
  await untilTold(2);
  expect(told[0]).toBe('hello world…');
  expect(told[1]).toMatch(/^x+…$/);
  expect(String(told[1]).length).toBeLessThan(150_000);
});

it('rejects when the sender goes away, whenever that is', async () => {
  const early = await dial();
  meet = (payload) => void payload.destroy(); // before anybody listens
  early.write(`${head(5)}he`);
  await untilTold(1);
  meet = () => {};
  const late = await dial();
  late.write(`${head(5)}he`);
  await new Promise((resolve) => setTimeout(resolve, 30));
  late.destroy();
  await untilTold(2);
  expect(told.map((one) => one instanceof Error)).toEqual([true, true]);
});

it('R2 requests that are complete in one turn of the event loop go on together', async () => {
  const receive = async (name: string): Promise<void> => {
    const payload = { complete: true, read: () => Buffer.from(name) };
    told.push((await receiveBytes(payload as IncomingMessage, 10)).bytes.toString());
  };
  const first = receive('first');
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(told).toEqual([]);
  await Promise.all([first, receive('second')]);
  expect(told).toEqual(['first', 'second']);
});
