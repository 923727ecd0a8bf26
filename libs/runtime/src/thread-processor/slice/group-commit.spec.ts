import { tenantId, type Append, type AppendAnswer } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createGroupCommit } from './group-commit.ts';

const limits = { groupCommitsMax: 3, groupBytesMax: 1_000, groupsInFlightMax: 1 };

function append(thread: string, bytes = 10): Append {
  const commit = {
    v: 1,
    tenant: tenantId('acme'),
    thread,
    version: 0,
    count: 1,
    inputs: [thread],
    at: 0,
    nonce: thread,
    trace: null,
    kid: null,
    prev: '',
    hash: '',
  } as const;
  return { commit: { ...commit, body: 'x'.repeat(bytes) }, owes: false };
}

/** A store that answers on command. */
function slowStore(): {
  readonly groups: string[][];
  readonly log: { append(group: readonly Append[]): Promise<readonly AppendAnswer[]> };
  /** A tick of the event loop. */
  turn(): Promise<void>;
  /** Answers the oldest group that is there, or the one at `place`. */
  answer(outcomes?: AppendAnswer[], place?: number): Promise<void>;
  fail(): Promise<void>;
} {
  const groups: string[][] = [];
  const pending: { readonly size: number; readonly answer: PromiseWithResolvers<readonly AppendAnswer[]> }[] = [];
  const turn = async (): Promise<void> => void (await new Promise((resolve) => setImmediate(resolve)));
  return {
    groups,
    log: {
      append: (group) => {
        queueMicrotask(() => groups.push(group.map((one) => one.commit.thread))); // a group leaves a microtask later
        const answer = Promise.withResolvers<readonly AppendAnswer[]>();
        pending.push({ size: group.length, answer });
        return answer.promise;
      },
    },
    turn,
    answer: async (outcomes, place = 0) => {
      const [answered] = pending.splice(place, 1);
      answered?.answer.resolve(outcomes ?? Array<AppendAnswer>(answered.size).fill('appended'));
      await turn();
    },
    fail: async () => {
      pending.shift()?.answer.reject(new Error('disk'));
      await turn();
    },
  };
}

describe('group commit', () => {
  it('writes what is ready in one turn of the loop together, and collects the rest while that is in flight', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    void commits.append(append('a'));
    void commits.append(append('b'));
    await store.turn();
    void commits.append(append('c'));
    void commits.append(append('d'));
    expect(store.groups).toEqual([['a', 'b']]);
    await store.answer();
    expect(store.groups).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('G3 tells whoever failed its own failure, and nobody else', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    const failure = new Error('its own');
    const both = Promise.allSettled([commits.append(append('a')), commits.append(append('b'))]);
    await store.turn();
    await store.answer(['appended', failure]);
    expect(await both).toEqual([
      { status: 'fulfilled', value: 'appended' },
      { status: 'rejected', reason: failure },
    ]);
  });

  it('G1 has as many groups at the store as it may, and no more', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, { ...limits, groupsInFlightMax: 2 });
    for (const name of 'abcdefgh') void commits.append(append(name));
    await store.turn();
    expect(store.groups.map((group) => group.join(''))).toEqual(['abc', 'def']);
    await store.answer(undefined, 1);
    expect(store.groups.map((group) => group.join(''))).toEqual(['abc', 'def', 'gh']);
    await store.answer();
    await store.answer();
    const failed = commits.append(append('i')).catch(String);
    await store.turn();
    void commits.append(append('j'));
    await store.turn();
    void commits.append(append('k'));
    await store.turn();
    expect(store.groups.slice(3)).toEqual([['i'], ['j']]);
    await store.fail();
    expect(store.groups.slice(3)).toEqual([['i'], ['j'], ['k']]);
    expect(await failed).toBe('Error: disk');
  });

  it('G1 sends the next group before it tells of an answer', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    const sentWhenTold: number[] = [];
    const tell = (): unknown => sentWhenTold.push(store.groups.length);
    void commits.append(append('a')).then(tell);
    await store.turn();
    void commits.append(append('b')).then(tell, tell);
    await store.answer();
    void commits.append(append('c'));
    await store.fail();
    expect(sentWhenTold).toEqual([2, 3]);
  });

  it('G3 fails a group of a store that throws at once, and goes on with the next', async () => {
    const tried: number[] = [];
    const log = {
      append: (group: readonly Append[]): Promise<readonly AppendAnswer[]> => {
        tried.push(group.length);
        throw new Error('closed');
      },
    };
    const commits = createGroupCommit(log, limits);
    const many = Array.from({ length: 12_000 }, (_, index) => commits.append(append(String(index))));
    const settled = await Promise.allSettled(many);
    expect(new Set(settled.map((one) => one.status))).toEqual(new Set(['rejected']));
    expect(tried).toHaveLength(4_000);
  });

  it('bounds a group in commits and in bytes, keeping the order of arrival', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    for (const [name, bytes] of [
      ['a', 10],
      ['b', 10],
      ['c', 10],
      ['d', 900],
      ['e', 900],
      ['f', 5_000],
    ] as const)
      void commits.append(append(name, bytes));
    await store.turn();
    for (let flush = 0; flush < 4; flush++) await store.answer();
    expect(store.groups).toEqual([['a', 'b', 'c'], ['d'], ['e'], ['f']]);
  });

  it('L4 gives each commit its own outcome', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    const outcomes = Promise.all([
      commits.append(append('a')),
      commits.append(append('b')),
      commits.append(append('c')),
    ]);
    await Promise.resolve();
    await store.answer(['appended', 'conflict']);
    expect(await outcomes).toEqual(['appended', 'conflict', 'unknown']);
  });

  it('fails every commit of a flush that throws, and goes on with the next', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, limits);
    const first = commits.append(append('a'));
    await Promise.resolve();
    const second = commits.append(append('b'));
    const failed = first.catch((error: unknown) => String(error));
    await store.fail();
    expect(await failed).toBe('Error: disk');
    await store.answer();
    expect(await second).toBe('appended');
  });
});
