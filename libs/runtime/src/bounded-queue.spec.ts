import { Fault } from '@dormouse/ports';
import { expect, it } from 'vitest';
import { createBoundedQueue } from './bounded-queue.ts';

/** A bounded queue, and the callers that went through it. */
function watched(limits: { readonly insideMax: number; readonly waitingMax: number }) {
  const through = createBoundedQueue(limits);
  const order: string[] = [];
  const seen = { inside: 0, most: 0 };
  const pass = (of: string, name: string): Promise<string> =>
    through(of, async () => {
      order.push(name);
      seen.most = Math.max(seen.most, ++seen.inside);
      await new Promise((resolve) => setImmediate(resolve));
      seen.inside--;
      if (name === 'broken') throw new Error(name);
      return name;
    });
  return { pass, order, seen };
}

it('T1 lets some in at once and the others in their order, also after one has failed', async () => {
  const { pass, order, seen } = watched({ insideMax: 2, waitingMax: 10 });
  const names = ['a', 'broken', 'c', 'd', 'e'];
  const passed = await Promise.allSettled(names.map((name) => pass('acme', name)));
  expect(passed.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(names);
  expect(seen).toEqual({ inside: 0, most: 2 });
  expect(await Promise.all([pass('acme', 'f'), pass('acme', 'g')])).toEqual(['f', 'g']);
});

it('T1 whoever comes last waits for one place, not for the queue of another', async () => {
  const { pass, order } = watched({ insideMax: 1, waitingMax: 10 });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => pass(name.slice(0, 1), name));
  expect(await Promise.all(all)).toHaveLength(7);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('T2 sends away whoever finds a queue of its own that is full, and nobody else', async () => {
  const { pass, order } = watched({ insideMax: 1, waitingMax: 2 });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => pass(name.slice(0, 1), name));
  const passed = await Promise.allSettled(all);
  expect(passed.map((one) => (one.status === 'fulfilled' ? one.value : one.reason))).toEqual([
    'a1',
    'a2',
    'a3',
    expect.any(Fault),
    'b1',
  ]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3']);
  expect(await pass('a', 'a5')).toBe('a5');
});
