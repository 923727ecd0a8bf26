import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { receiveBytes } from './request-bytes.ts';

it('R2 requests that are complete in one turn of the event loop go on together', async () => {
  const told: string[] = [];
  const complete = (name: string): Promise<void> => {
    const payload = new EventEmitter();
    const received = receiveBytes(payload as IncomingMessage, 10).then(({ bytes }) => void told.push(bytes.toString()));
    payload.emit('data', Buffer.from(name));
    payload.emit('end');
    return received;
  };
  const first = complete('first');
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(told).toEqual([]);
  await Promise.all([first, complete('second')]);
  expect(told).toEqual(['first', 'second']);
});
