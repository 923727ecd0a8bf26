import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairSemaphore, withPlace } from './fair-semaphore.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a fair semaphore', () => {
  it('F2 a key with one that waits is next, however many wait of another key', async () => {
    const semaphore = createFairSemaphore(2);
    const entered: string[] = [];
    const enter = (key: string, name: string): unknown => semaphore.enter(key).then(() => entered.push(name));
    for (let nth = 0; nth < 1_000; nth += 1) enter('dead', `dead-${nth}`);
    enter('healthy', 'healthy');
    enter('other', 'other');
    await settled();
    expect(entered).toEqual(['dead-0', 'dead-1']);
    for (const key of ['dead', 'dead', 'dead', 'healthy']) semaphore.leave(key);
    await settled();
    expect(entered.slice(2)).toEqual(['dead-2', 'healthy', 'other', 'dead-3']);
  });

  it('F3 a key whose holders hang leaves places to others, and takes no more of them when it waits', async () => {
    const semaphore = createFairSemaphore(16);
    const entered: string[] = [];
    const enter = (key: string): unknown => semaphore.enter(key).then(() => entered.push(key));
    for (let nth = 0; nth < 100; nth += 1) enter('hangs');
    for (const key of ['healthy', 'other', 'healthy']) enter(key);
    await settled();
    expect(entered).toEqual(['hangs', 'hangs', 'hangs', 'hangs', 'healthy', 'other', 'healthy']);
    semaphore.leave('healthy');
    await settled();
    expect(entered).toHaveLength(7);
    semaphore.leave('hangs');
    await settled();
    expect(entered.slice(7)).toEqual(['hangs']);
  });

  it('F2 F3 owners are served by weight, and none fills the places however many keys it has', async () => {
    const weights: Readonly<Record<string, number>> = { heavy: 3 };
    const semaphore = createFairSemaphore(64, {
      ownerOf: (key) => key.slice(0, key.indexOf(' ')),
      weightOf: (owner) => weights[owner] ?? 1,
    });
    const entered: string[] = [];
    const enter = (key: string): unknown => semaphore.enter(key).then(() => entered.push(key));
    for (let nth = 0; nth < 500; nth += 1) enter(`storm ${nth}`);
    await settled();
    expect(entered.length).toBeGreaterThan(48);
    expect(entered.length).toBeLessThan(64);
    enter('quiet 1');
    await settled();
    expect(entered.at(-1)).toBe('quiet 1');
    for (let nth = 0; nth < 500; nth += 1) enter(`heavy ${nth}`);
    for (let left = 0; left < 400; left += 1) {
      const key = entered[left];
      if (key !== undefined) semaphore.leave(key);
      await settled();
    }
    const late = entered.slice(100, 400);
    const ofHeavy = late.filter((key) => key.startsWith('heavy')).length;
    expect(ofHeavy / (late.length - ofHeavy)).toBeGreaterThan(2);
    expect(ofHeavy / (late.length - ofHeavy)).toBeLessThan(4);
  });

  it('F1 a place is given back while its holder waits, also when the wait fails, and never twice', async () => {
    const semaphore = createFairSemaphore(1);
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = withPlace(semaphore, 'a', async (place) => {
      order.push('a begins');
      await place.releasedDuring(() => gate.promise);
      order.push('a goes on');
    });
    await withPlace(semaphore, 'b', async () => void order.push('b'));
    gate.resolve();
    await first;
    const failing = withPlace(semaphore, 'c', (place) =>
      place.releasedDuring(() => Promise.reject(new Error('ended'))),
    );
    await expect(failing).rejects.toThrow('ended');
    expect(order).toEqual(['a begins', 'b', 'a goes on']);
    expect(semaphore.isFree).toBe(true);
    await semaphore.enter('d');
    expect(semaphore.isFree).toBe(false);
  });

  it('F1 no more than the places are held, whatever comes and goes, and all come to their turn', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), waits: fc.nat(3), fails: fc.boolean() }), {
          maxLength: 30,
        }),
        async (max, jobs) => {
          const semaphore = createFairSemaphore(max);
          let held = 0;
          const heldOf = { a: 0, b: 0, c: 0 };
          const work = jobs.map(({ key, waits, fails }) =>
            withPlace(semaphore, key, async (place) => {
              for (let nth = 0; nth <= waits; nth += 1) {
                held += 1;
                heldOf[key] += 1;
                expect(held).toBeLessThanOrEqual(max);
                expect(heldOf[key]).toBeLessThanOrEqual(2); // (F3)
                await settled();
                held -= 1;
                heldOf[key] -= 1;
                await place.releasedDuring(settled);
              }
              if (fails) throw new Error('failed');
            }),
          );
          const results = await Promise.allSettled(work);
          expect(results.map(({ status }) => status === 'rejected')).toEqual(jobs.map(({ fails }) => fails));
          expect(semaphore.isFree).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });
});
