import { createManualClock, createMemoryWorld, createSeededEntropy } from '@dormouse/adapter-memory';
import { type CallbackCounts, Fault, type Logger, tenantId } from '@dormouse/ports';
import { beforeEach, expect, it } from 'vitest';
import { type CallbackTally, createCallbackTally } from './callback-tally.ts';

const call = { tenant: tenantId('acme'), thread: 'thr_1', toolCallId: 'call_1' };
const clock = createManualClock();
const warnings: string[] = [];
const logger: Logger = { info: () => {}, warn: (event) => void warnings.push(event), error: () => {} };
let counts: CallbackCounts;
let isAway: boolean;
let puts: number;
let tally: CallbackTally;

beforeEach(() => {
  const { callbackCounts } = createMemoryWorld({ clock }).ports('gateway');
  [isAway, puts, warnings.length] = [false, 0, 0];
  counts = {
    put: async (rows) => {
      puts += 1;
      if (isAway) throw new Fault('UNAVAILABLE', 'the database is away');
      await callbackCounts.put(rows);
    },
    read: (key, ids) => callbackCounts.read(key, ids),
  };
  tally = createCallbackTally({ counts, clock, entropy: createSeededEntropy(1, 'gateway'), logger });
});

const known = async (id = 'call_1') => (await counts.read(call, [id]))[0];

it('L2 writes what it counted once a second, and nothing while nothing is counted', async () => {
  tally.duplicate(call);
  tally.duplicate(call);
  tally.refused(call);
  expect(await known()).toBeUndefined();
  await clock.advance(1_000);
  expect(await known()).toEqual({ toolCallId: 'call_1', duplicates: 2, refused: 1 });
  tally.duplicate(call);
  await clock.advance(60_000);
  expect(await known()).toMatchObject({ duplicates: 3, refused: 1 });
  expect(puts).toBe(2);
});

it('L2 writes at a stop', async () => {
  tally.refused(call);
  await tally.flush();
  expect(await known()).toMatchObject({ duplicates: 0, refused: 1 });
});

it('L1 counts on while the store is away, and says so once', async () => {
  isAway = true;
  tally.duplicate(call);
  await clock.advance(5_000);
  tally.duplicate(call);
  expect([puts, warnings]).toEqual([5, ['callback_counts_unwritten']]);
  isAway = false;
  await clock.advance(1_000);
  expect(await known()).toMatchObject({ duplicates: 2 });
});

it('L3 forgets calls that are written, and replaces nothing when one of them is counted again', async () => {
  tally.duplicate(call);
  await tally.flush();
  for (let nth = 0; nth < 10_000; nth++) tally.duplicate({ ...call, toolCallId: `other_${nth}` });
  tally.duplicate(call); // without room: not counted
  await tally.flush();
  tally.duplicate(call);
  await tally.flush();
  expect(await known()).toMatchObject({ duplicates: 2 });
  expect(await known('other_9998')).toMatchObject({ duplicates: 1 });
});
