import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Ticket, TransientMap, TransientSet } from './transient-map.ts';

const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete', 'clear', 'get'), fc.nat(5), fc.nat(9)));

describe('a map for what comes and goes', () => {
  it('is a map', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const model = new Map<number, number>();
        const map = new TransientMap<number, number>();
        for (const [step, key, value] of taken) {
          if (step === 'set') {
            model.set(key, value);
            map.set(key, value);
          } else if (step === 'delete') expect(map.delete(key)).toBe(model.delete(key));
          else if (step === 'clear') {
            model.clear();
            map.clear();
          }
          expect([map.get(key), map.has(key), map.size]).toEqual([model.get(key), model.has(key), model.size]);
        }
        expect([...map.entries()]).toEqual([...model.entries()]);
        expect([[...map.keys()], [...map.values()]]).toEqual([[...model.keys()], [...model.values()]]);
      }),
    );
  });

  it('T2 lets members leave and come while it is walked through', () => {
    const map = new TransientMap<string, number>();
    for (const [index, name] of ['a', 'b', 'c'].entries()) map.set(name, index);
    const seen: string[] = [];
    for (const [name] of map.entries()) {
      seen.push(name);
      map.delete(name);
      map.delete('b');
      if (name === 'a') map.set('d', 3);
    }
    expect([seen, map.size]).toEqual([['a', 'c', 'd'], 0]);
  });

  it('T1 leaves old collections nothing to keep: what came and went is collected young', () => {
    // 64 in flight, each with a graph of its own. What a plain set held is promoted, dead or not. The flags fix when it
    // is collected, and by which thread, so that every run counts the same.
    const alike = ['--single-threaded', '--min-semi-space-size=16', '--max-semi-space-size=16', '--expose-gc'];
    const promoted = (module: string): number => {
      const script = `
        const { TransientSet } = await import(${JSON.stringify(new URL('./transient-map.ts', import.meta.url).href)});
        const own = new TransientSet(), plain = new Set(), inFlight = [];
        const enter = ${module === 'own'} ? (graph) => own.add(graph) : (graph) => (plain.add(graph), graph);
        const leave = ${module === 'own'} ? (ticket) => own.delete(ticket) : (graph) => plain.delete(graph);
        for (let turn = 0; turn < 20_000; turn++) {
          inFlight.push(enter({ words: Array.from({ length: 200 }, (_, index) => ({ index })) }));
          if (inFlight.length > 64) leave(inFlight.shift());
          if (turn % 200 === 0) gc({ type: 'minor' });
        }`;
      const flags = [...alike, '--trace-gc-nvp', '--trace-gc', '--input-type=module', '-e', script];
      const trace = execFileSync(process.execPath, flags, { encoding: 'utf8' });
      return [...trace.matchAll(/ promoted=(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
    };
    expect(promoted('own')).toBeLessThan(promoted('plain') / 3);
  });
});

describe('a set for what comes and goes', () => {
  it('gives tickets: a member leaves once, the same member may be there twice', () => {
    const set = new TransientSet<string>();
    const [first, second] = [set.add('a'), set.add('a')];
    expect([set.size, [...set.values()]]).toEqual([2, ['a', 'a']]);
    expect([set.delete(first), set.delete(first), set.size]).toEqual([true, false, 1]);
    set.clear();
    expect([set.delete(second), [...set.values()]]).toEqual([false, []]);
  });

  it('is a set of places: walks meet each member that is there when its turn comes, in order', () => {
    const step = fc.tuple(fc.constantFrom('add', 'delete', 'walk', 'go on', 'end', 'clear'), fc.nat(9));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (taken) => {
        const set = new TransientSet<number>();
        const tickets: Ticket<number>[] = []; // the number is the place
        const isThere: boolean[] = [];
        const walks: { readonly real: IterableIterator<number>; at: number; ended: boolean }[] = [];
        for (const [step, which] of taken) {
          const walk = walks.at(which);
          if (step === 'add') isThere[tickets.push(set.add(tickets.length)) - 1] = true;
          else if (step === 'walk') walks.push({ real: set.values(), at: -1, ended: false });
          else if (step === 'end') {
            walk?.real.return?.();
            if (walk) walk.ended = true;
          } else if (step === 'clear') {
            set.clear();
            isThere.fill(false);
          } else if (step === 'delete' && which < tickets.length) {
            expect(set.delete(tickets[which]!)).toBe(isThere[which]);
            isThere[which] = false;
          } else if (step === 'go on' && walk !== undefined) {
            const next = walk.ended ? -1 : isThere.findIndex((there, place) => there && place > walk.at);
            expect(walk.real.next()).toEqual(
              next < 0 ? { done: true, value: undefined } : { done: false, value: next },
            );
            if (next < 0) walk.ended = true;
            else walk.at = next;
          }
          const there = isThere.flatMap((is, place) => (is ? [place] : []));
          expect([set.size, [...set.values()]]).toEqual([there.length, there]);
          expect(tickets.map(({ member }) => member)).toEqual(isThere.map((is, place) => (is ? place : null)));
        }
      }),
      { numRuns: 500 },
    );
  });
});
