import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOutbox, type Outbox, type Urgency } from './outbox.ts';

const waiting = { resolve: () => {}, reject: () => {} };

let left: string[][];
let outbox: Outbox;
beforeEach(() => {
  vi.useFakeTimers();
  left = [];
  outbox = createOutbox(
    { lazyMax: 3, lazyFlushMs: 50 },
    (operations) => void left.push(operations.map((operation) => ('sql' in operation ? operation.sql : '?'))),
  );
});
afterEach(() => {
  vi.useRealTimers();
});

const add = (urgency: Urgency, sql: string): void => outbox.add(urgency, { do: 'rows', sql, rows: [] }, waiting);
const turnOfTheLoop = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe('what has not left yet', () => {
  it('U1 leaves together with the turn of the event loop when somebody waits', async () => {
    add('commit', 'a');
    add('prompt', 'b');
    add('commit', 'c');
    expect([left, outbox.length]).toEqual([[], 3]);
    await turnOfTheLoop();
    expect([left, outbox.length]).toEqual([[['a', 'b', 'c']], 0]);
  });

  it('U1 leaves after a while when nobody waits, counted from the first', async () => {
    add('lazy', 'a');
    await vi.advanceTimersByTimeAsync(49);
    add('lazy', 'b');
    expect(left).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(left).toEqual([['a', 'b']]);
    await vi.advanceTimersByTimeAsync(100);
    expect(left).toHaveLength(1);
  });

  it('U1 leaves when enough of it waits', () => {
    for (const each of ['a', 'b', 'c', 'd']) add('lazy', each);
    expect([left, outbox.length]).toEqual([[['a', 'b', 'c']], 1]);
  });

  it('U2 is overtaken by a commit when nobody waits for it', async () => {
    add('lazy', 'a');
    add('commit', 'b');
    await turnOfTheLoop();
    expect([left, outbox.length]).toEqual([[['b']], 1]);
    await vi.advanceTimersByTimeAsync(50);
    expect(left).toEqual([['b'], ['a']]);
  });

  it('U2 is not overtaken by anything else', async () => {
    add('lazy', 'a');
    add('commit', 'b');
    add('lazy', 'c');
    add('prompt', 'd');
    add('lazy', 'e');
    await turnOfTheLoop();
    expect([left, outbox.length]).toEqual([[['b', 'a', 'c', 'd']], 1]);
  });

  it('leaves at once when it is told to', async () => {
    add('lazy', 'a');
    add('prompt', 'b');
    add('lazy', 'c');
    outbox.leave();
    expect([left, outbox.length]).toEqual([[['a', 'b', 'c']], 0]);
    await vi.advanceTimersByTimeAsync(100);
    expect(left).toHaveLength(1);
  });
});
