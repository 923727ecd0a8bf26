import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Waiting } from './answer-queue.ts';
import { createOutbox, type Outbox, type Urgency } from './outbox.ts';
import type { WriteOperation } from './write-operation.ts';

let left: string[];
let names: Map<WriteOperation | Waiting, string>;
let outbox: Outbox;
beforeEach(() => {
  vi.useFakeTimers();
  left = [];
  names = new Map();
  const listOf = (all: readonly (WriteOperation | Waiting)[]): string => all.map((each) => names.get(each)).join(' ');
  outbox = createOutbox(
    { lazyRideMs: 20, lazyRideCount: 4, lazyLeaveMs: 50, lazyAloneCount: 3 },
    (operations, waiting) => {
      expect(listOf(waiting)).toBe(listOf(operations));
      left.push(listOf(operations));
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
});

function add(urgency: Urgency, ...all: readonly string[]): void {
  for (const name of all) {
    const operation: WriteOperation = { do: 'rows', sql: name, rows: [] };
    const waiting: Waiting = { resolve: () => {}, reject: () => {} };
    names.set(operation, name).set(waiting, name);
    outbox.add(urgency, operation, waiting);
  }
}

const endOfTurn = (): Promise<void> => Promise.resolve();
const pass = (ms: number): unknown => vi.advanceTimersByTime(ms);

describe('what somebody waits for', () => {
  it('U1 leaves together, with the turn of the event loop', async () => {
    add('commit', 'a');
    add('prompt', 'b');
    add('commit', 'c');
    expect([left, outbox.length]).toEqual([[], 3]);
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['a b c'], 0]);
    add('commit', 'd');
    await endOfTurn();
    expect(left).toEqual(['a b c', 'd']);
  });
});

describe('lazy writes', () => {
  it('U2 are overtaken by a commit while they are young', async () => {
    add('lazy', 'a', 'b');
    pass(19);
    add('commit', 'c');
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['c'], 2]);
  });

  it('U2 go with a commit when they are older, counted from the first', async () => {
    add('lazy', 'a');
    pass(19);
    add('lazy', 'b');
    pass(1);
    expect(left).toEqual([]);
    add('commit', 'c', 'd');
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['c a b d'], 0]);
  });

  it('U2 go with a commit when there are many', async () => {
    add('lazy', 'a', 'b', 'c', 'd');
    await endOfTurn();
    expect(left).toEqual([]);
    add('commit', 'e');
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['e a b c d'], 0]);
  });

  it('U2 are young again after the earlier ones have left', async () => {
    add('lazy', 'a');
    pass(20);
    add('commit', 'b');
    await endOfTurn();
    add('lazy', 'c');
    pass(19);
    add('commit', 'd');
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['b a', 'd'], 1]);
  });

  it('U3 leave alone after a while, counted from the first', () => {
    add('lazy', 'a');
    pass(49);
    add('lazy', 'b');
    expect(left).toEqual([]);
    pass(1);
    expect(left).toEqual(['a b']);
    add('lazy', 'c');
    pass(49);
    expect(left).toHaveLength(1);
    pass(1);
    expect(left).toEqual(['a b', 'c']);
  });

  it('U4 are not overtaken by anything but a commit', async () => {
    add('lazy', 'a');
    add('commit', 'b');
    add('lazy', 'c');
    add('prompt', 'd');
    add('lazy', 'e');
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['b a c d'], 1]);
    pass(49);
    expect(left).toHaveLength(1);
    pass(1);
    expect(left).toEqual(['b a c d', 'e']);
  });
});

describe('when everything that left is answered', () => {
  it('U5 many lazy writes leave alone, and nothing twice', () => {
    add('lazy', 'a', 'b');
    outbox.allAnswered();
    expect([left, outbox.length]).toEqual([[], 2]);
    add('lazy', 'c');
    expect(left).toEqual([]);
    outbox.allAnswered();
    outbox.allAnswered();
    pass(100);
    expect([left, outbox.length]).toEqual([['a b c'], 0]);
  });

  it('U5 they stay behind a commit that is about to leave', async () => {
    add('lazy', 'a', 'b', 'c');
    add('commit', 'd');
    outbox.allAnswered();
    await endOfTurn();
    expect([left, outbox.length]).toEqual([['d'], 3]);
  });
});

it('everything leaves at once when it is told to, and nothing twice', async () => {
  add('lazy', 'a');
  add('prompt', 'b');
  add('lazy', 'c');
  outbox.leave();
  expect([left, outbox.length]).toEqual([['a b c'], 0]);
  await endOfTurn();
  pass(100);
  expect(left).toHaveLength(1);
});
