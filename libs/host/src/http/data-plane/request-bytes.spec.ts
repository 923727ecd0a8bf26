import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createBodyRoom } from '../server/arrivals.ts';
import { receiveBytes as receive, type RequestBytes } from './request-bytes.ts';

const enough = createBodyRoom(1_000_000);
const receiveBytes = (payload: IncomingMessage, bytesMax: number, room = enough): Promise<RequestBytes> =>
  receive(payload, bytesMax, room);
const request = (): IncomingMessage => new IncomingMessage(new Socket());

function end(payload: IncomingMessage): void {
  payload.complete = true;
  payload.push(null);
}

/** A request whose body arrived together with its head. */
function arrived(body: string): IncomingMessage {
  const payload = request();
  payload.push(body);
  end(payload);
  return payload;
}

const textOf = ({ bytes, truncated }: RequestBytes): string => `${bytes.toString()}${truncated ? '…' : ''}`;

it('B3 takes a body that came along with its head, and listens for nothing', async () => {
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

it('B1 says that there was more than it takes, however it comes, and does not keep it', async () => {
  expect(textOf(await receiveBytes(arrived('hello world'), 10))).toBe('hello world…');
  const payload = request();
  const received = receiveBytes(payload, 10);
  for (let part = 0; part < 20; part++) {
    payload.push('hello ');
    await turn();
  }
  expect(textOf(await received)).toBe('hello hello …'); // the end is not waited for
  end(payload);
});

it('B1 takes the beginning alone of what says that it is longer, and waits for no more', async () => {
  const payload = request();
  payload.headers['content-length'] = '11';
  const received = receiveBytes(payload, 10);
  payload.push('he');
  expect(textOf(await received)).toBe('he…');
});

describe('B4 without room for all', () => {
  let nowMs = 0;
  const push = async (payload: IncomingMessage, bytes: number): Promise<void> => {
    payload.push('x'.repeat(bytes));
    await turn();
  };
  /** The outcome: the code of a failure, or the length of the body. */
  const outcome = (received: Promise<RequestBytes>): Promise<string | number> =>
    received.then(
      ({ bytes }) => bytes.length,
      ({ code }: { readonly code: string }) => code,
    );

  it('those that come fast wait for each other, and all come whole', async () => {
    const room = createBodyRoom(10_000, () => 0);
    const payloads = Array.from({ length: 10 }, request);
    const outcomes = payloads.map((payload) => outcome(receiveBytes(payload, 100_000, room)));
    for (let part = 0; part < 4; part++) for (const payload of payloads) await push(payload, 1_000);
    expect(payloads.filter((payload) => payload.isPaused())).toHaveLength(9);
    for (const payload of payloads) end(payload);
    expect(await Promise.all(outcomes)).toEqual(payloads.map(() => 4_000));
  });

  it('those that have been coming for long give way to one that comes now', async () => {
    const room = createBodyRoom(10_000, () => nowMs);
    const slow = [request(), request()];
    const outcomes = slow.map((payload) => outcome(receiveBytes(payload, 100_000, room)));
    for (const payload of slow) await push(payload, 4_000);
    nowMs = 5_001;
    const fast = request();
    const whole = outcome(receiveBytes(fast, 100_000, room));
    await push(fast, 4_500);
    expect(await outcomes[0]).toBe('UNAVAILABLE');
    for (const payload of [fast, ...slow]) end(payload);
    expect([await whole, await outcomes[1]]).toEqual([4_500, 4_000]);
  });

  it('a chunk takes more than its bytes', async () => {
    const room = createBodyRoom(10_000, () => (nowMs += 500));
    const [drips, other] = [request(), request()];
    const outcomes = [drips, other].map((payload) => outcome(receiveBytes(payload, 100_000, room)));
    await push(other, 1);
    for (let part = 0; part < 100; part++) await push(drips, 1);
    for (const payload of [drips, other]) end(payload);
    expect(await outcomes[0]).toBe('UNAVAILABLE');
  });
});

it('rejects when the sender goes away, whenever that is: his mistake, and not ours', async () => {
  const early = request();
  const neverHeard = receiveBytes(early, 10);
  early.destroy(); // before a listener is attached
  await expect(neverHeard).rejects.toMatchObject({ code: 'MALFORMED_REQUEST', status: 400 });
  const late = request();
  const halfHeard = receiveBytes(late, 10);
  late.push('he');
  await turn();
  late.destroy();
  await expect(halfHeard).rejects.toMatchObject({ code: 'MALFORMED_REQUEST', status: 400 });
});

it('B2 requests that are complete in one turn of the event loop go on together', async () => {
  const told: string[] = [];
  const take = async (name: string): Promise<void> => {
    told.push(textOf(await receiveBytes(arrived(name), 10)));
  };
  const first = take('first');
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(told).toEqual([]);
  await Promise.all([first, take('second')]);
  expect(told).toEqual(['first', 'second']);
});
