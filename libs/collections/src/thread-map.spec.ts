import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadMap } from './thread-map.ts';

type ThreadKey = Parameters<ThreadMap<object>['get']>[0];

const keys = fc.record({ tenant: fc.constantFrom('a', 'a b', ''), thread: fc.constantFrom('b', 'b c', '') });
const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete', 'get'), keys, fc.nat(9)));
const nameOf = ({ tenant, thread }: ThreadKey): string => JSON.stringify([tenant, thread]);

describe('a map by thread', () => {
  it('is a map whose keys are pairs, whatever the names hold', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const model = new Map<string, number>();
        const map = new ThreadMap<number>();
        for (const [step, key, value] of taken) {
          if (step === 'set') {
            model.set(nameOf(key), value);
            map.set(key, value);
          } else if (step === 'delete') expect(map.delete(key)).toBe(model.delete(nameOf(key)));
          expect([map.get(key), map.has(key), map.size]).toEqual([
            model.get(nameOf(key)),
            model.has(nameOf(key)),
            model.size,
          ]);
        }
        const held = [...map.entries()].map(([key, value]) => [nameOf(key), value] as const);
        expect(new Map(held)).toEqual(model);
        expect([...map.values()].length).toBe(model.size);
        expect([...map.values()].every((value) => [...model.values()].includes(value))).toBe(true);
      }),
    );
  });

  it('M2 lets the tenant that has most make room, with its oldest', () => {
    const map = new ThreadMap<number>();
    for (const thread of ['1', '2', '3']) map.set({ tenant: 'gone', thread }, 0);
    map.set({ tenant: 'busy', thread: '1' }, 0);
    map.set({ tenant: 'gone', thread: '1' }, 1); // it stays the oldest
    const left = (): string[] => [...map.entries()].map(([{ tenant, thread }]) => `${tenant} ${thread}`);
    map.makeRoom();
    expect(left()).toEqual(['gone 2', 'gone 3', 'busy 1']);
    map.set({ tenant: 'busy', thread: '2' }, 0);
    map.set({ tenant: 'busy', thread: '3' }, 0);
    map.makeRoom();
    expect(left()).toEqual(['gone 2', 'gone 3', 'busy 2', 'busy 3']);
    for (let rounds = 0; rounds < 6; rounds++) map.makeRoom();
    expect([map.size, left()]).toEqual([0, []]);
  });

  it('M2 makes room for a new thread, and for none that is there', () => {
    const map = new ThreadMap<number>();
    for (const thread of ['1', '2', '2', '1']) map.setWithin(2, { tenant: 'one', thread }, Number(thread));
    expect([...map.values()]).toEqual([1, 2]);
    map.setWithin(2, { tenant: 'other', thread: '3' }, 3);
    expect([...map.values()]).toEqual([2, 3]);
  });

  it('M1 holds nothing of a tenant whose last thread is gone', () => {
    const map = new ThreadMap<number>();
    map.set({ tenant: 'a', thread: 'b' }, 1);
    map.delete({ tenant: 'a', thread: 'b' });
    expect([map.size, [...map.entries()]]).toEqual([0, []]);
    map.set({ tenant: 'a', thread: 'b' }, 1);
    map.clear();
    expect([map.size, map.get({ tenant: 'a', thread: 'b' })]).toEqual([0, undefined]);
  });
});
