// The race matrix through the real services: result, duplicate, confirmation, event, login, cancel, interruption,
// close, timeout, approval and the end of the process, in every order. The heart alone is searched deeper, in
// libs/thread; all orders of all nine of the matrix take half an hour, which `npm run test:all` has (race-matrix.ts).
import { describe, expect, it } from 'vitest';
import { faultsOf, matrix, type Order, orderAt, orders } from './race-orders.ts';
import { type Happening, race } from './races.ts';

const afterwards = [
  'result',
  'duplicate',
  'confirmation',
  'event',
  'login',
  'cancel',
  'interruption',
  'close',
  'timeout',
  'restart',
] as const;

/** Everything settles between two events, or nothing that needs time does. */
const pausesMs = [1_500, 0];

async function expectAllSound(all: readonly Order[], topology: 'standalone' | 'durable') {
  for (const pauseMs of pausesMs)
    for (const order of all) {
      const bad = faultsOf(await race(order, topology, pauseMs), order);
      if (bad.length > 0) expect({ order, pauseMs, bad }).toEqual({ order, pauseMs, bad: [] });
    }
}

describe.each(['standalone', 'durable'] as const)('one call, %s', (topology) => {
  it('I-05 I-07 I-10 I-12 any two of eleven', async () => {
    const all = orders(['approval', ...afterwards], 2);
    expect(all).toHaveLength(110);
    await expectAllSound(all, topology);
  });

  it('I-05 I-07 I-10 I-12 any three of the ten that may follow the approval', { timeout: 300_000 }, async () => {
    const all = orders(afterwards, 3).map((order): readonly Happening[] => ['approval', ...order]);
    expect(all).toHaveLength(720);
    await expectAllSound(all, topology);
  });

  it('I-05 I-07 I-10 I-12 all nine of the matrix: one order of a thousand', { timeout: 300_000 }, async () => {
    const every = 997; // a prime: neighbours begin and end differently
    const all = Array.from({ length: 364 }, (_, nth) => orderAt(matrix, nth * every));
    expect(new Set(all.map(String)).size).toBe(364);
    await expectAllSound(all, topology);
  });
});
