import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { receiveBytes, type RequestBytes } from './request-bytes.ts';

const request = (): IncomingMessage => new IncomingMessage(new Socket());

function end(payload: IncomingMessage): void {
  payload.complete = true;
  payload.push(null);
}

/** A request whose body came along with its head. */
function arrived(body: string): IncomingMessage {
  const payload = request();
  payload.push(body);
  end(payload);
  return payload;
}

const textOf = ({ bytes, truncated }: RequestBytes): string => `${bytes.toString()}${truncated ? '…' : ''}`;

it('R3 takes a body that came along with its head, and listens for nothing', async () => {
  const payload = arrived('hello');
  expect(textOf(await receiveBytes(payload, 10))).toBe('hello');
  expect(['data', 'end', 'error'].map((name) => payload.listenerCount(name))).toEqual([0, 0, 0]);
  const empty = request();
  end(empty);
  expect(textOf(await receiveBytes(empty, 10))).toBe('');
});

it('takes a body that comes in parts', async () => {
  const payload = request();
  const received = receiveBytes(payload, 10);
  for (const part of ['he', 'll', 'o']) {
    payload.push(part);
    await turn();
  }
  end(payload);
  expect(textOf(await received)).toBe('hello');
});

it('R1 says that there was more than it takes, however it comes, and does not keep it', async () => {
  expect(textOf(await receiveBytes(arrived('hello world'), 10))).toBe('hello world…');
  const payload = request();
  const received = receiveBytes(payload, 10);
  for (let part = 0; part < 20; part++) {
    payload.push('hello ');
    await turn();
  }
  end(payload);
  expect(textOf(await received)).toBe('hello hello …');
});

it('rejects when the sender goes away, whenever that is: his mistake, and not ours', async () => {
  const early = request();
  const neverHeard = receiveBytes(early, 10);
  early.destroy(); // before anybody listens
  await expect(neverHeard).rejects.toMatchObject({ code: 'MALFORMED_REQUEST', status: 400 });
  const late = request();
  const halfHeard = receiveBytes(late, 10);
  late.push('he');
  await turn();
  late.destroy();
  await expect(halfHeard).rejects.toMatchObject({ code: 'MALFORMED_REQUEST', status: 400 });
});

it('R2 requests that are complete in one turn of the event loop go on together', async () => {
  const told: string[] = [];
  const receive = async (name: string): Promise<void> => {
    told.push(textOf(await receiveBytes(arrived(name), 10)));
  };
  const first = receive('first');
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(told).toEqual([]);
  await Promise.all([first, receive('second')]);
  expect(told).toEqual(['first', 'second']);
});
