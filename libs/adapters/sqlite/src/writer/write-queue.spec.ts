import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Waiting } from './answer-queue.ts';
import { createWriteQueue, type Urgency, type WriteQueue } from './write-queue.ts';
import type { WriteOperation } from './write-operation.ts';

let posted: string[];
let names: Map<WriteOperation | Waiting, string>;
let queue: WriteQueue;
beforeEach(() => {
  vi.useFakeTimers();
  posted = [];
  names = new Map();
  const listOf = (all: readonly (WriteOperation | Waiting)[]): string => all.map((each) => names.get(each)).join(' ');
  queue = createWriteQueue({ lazyMsMax: 50 }, (operations, waiting) => {
    expect(listOf(waiting)).toBe(listOf(operations));
    posted.push(listOf(operations));
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function add(urgency: Urgency, ...all: readonly string[]): void {
  for (const name of all) {
    const operation: WriteOperation = { do: 'rows', sql: name, rows: [] };
    const waiting: Waiting = { resolve: () => {}, reject: () => {} };
    names.set(operation, name).set(waiting, name);
    queue.add(urgency, operation, waiting);
  }
}

const endOfTick = (): Promise<void> => Promise.resolve();
const pass = (ms: number): unknown => vi.advanceTimersByTime(ms);

describe('the write queue', () => {
  it('Q1 posts commits and prompt writes together, at the end of the tick', async () => {
    add('commit', 'a');
    add('prompt', 'b');
    add('commit', 'c');
    expect([posted, queue.length]).toEqual([[], 3]);
    await endOfTick();
    expect([posted, queue.length]).toEqual([['a b c'], 0]);
    add('commit', 'd');
    await endOfTick();
    expect(posted).toEqual(['a b c', 'd']);
  });

  it.each(['commit', 'prompt'] as const)('Q2 Q3 posts lazy writes with the next %s, in order', async (urgency) => {
    add('lazy', 'a', 'b');
    await endOfTick();
    expect([posted, queue.length]).toEqual([[], 2]);
    add(urgency, 'c');
    add('lazy', 'd');
    await endOfTick();
    expect([posted, queue.length]).toEqual([['a b c d'], 0]);
    pass(100);
    expect(posted).toHaveLength(1);
  });

  it('Q2 posts lazy writes alone after a while, counted from the first', () => {
    add('lazy', 'a');
    pass(49);
    add('lazy', 'b');
    expect(posted).toEqual([]);
    pass(1);
    expect(posted).toEqual(['a b']);
    add('lazy', 'c');
    pass(49);
    expect(posted).toHaveLength(1);
    pass(1);
    expect(posted).toEqual(['a b', 'c']);
  });

  it('posts everything when it is flushed, and nothing twice', async () => {
    add('lazy', 'a');
    add('prompt', 'b');
    add('lazy', 'c');
    queue.flush();
    expect([posted, queue.length]).toEqual([['a b c'], 0]);
    await endOfTick();
    pass(100);
    expect(posted).toHaveLength(1);
  });
});
