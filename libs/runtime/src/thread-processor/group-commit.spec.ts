import type { Append, AppendOutcome } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { createGroupCommit } from './group-commit.ts';

const limits = { groupCommitsMax: 3, groupBytesMax: 1_000, groupsInFlightMax: 1 };

function append(thread: string, bytes = 10): Append {
  const commit = {
    v: 1,
    tenant: 'acme',
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

/** A store that answers when it is told to. */
function slowStore(): {
  readonly groups: string[][];
  readonly log: { append(group: readonly Append[]): Promise<readonly AppendOutcome[]> };
  answer(outcomes?: AppendOutcome[]): Promise<void>;
  fail(): Promise<void>;
} {
  const groups: string[][] = [];
  const pending: PromiseWithResolvers<readonly AppendOutcome[]>[] = [];
  const turn = async (): Promise<void> => void (await new Promise((resolve) => setImmediate(resolve)));
  return {
    groups,
    log: {
      append: (group) => {
        groups.push(group.map((one) => one.commit.thread));
        const answer = Promise.withResolvers<readonly AppendOutcome[]>();
        pending.push(answer);
        return answer.promise;
      },
    },
    answer: async (outcomes) => {
      pending.shift()?.resolve(outcomes ?? groups.at(-1)?.map(() => 'appended') ?? []);
      await turn();
    },
    fail: async () => {
      pending.shift()?.reject(new Error('disk'));
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
    await Promise.resolve();
    void commits.append(append('c'));
    void commits.append(append('d'));
    expect(store.groups).toEqual([['a', 'b']]);
    await store.answer();
    expect(store.groups).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('G1 lets as many groups wait at the store as it may, and sends the next before it tells of an answer', async () => {
    const store = slowStore();
    const commits = createGroupCommit(store.log, { ...limits, groupsInFlightMax: 2 });
    const sentWhenTold: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      void commits.append(append(name)).then(() => sentWhenTold.push(store.groups.length));
      await Promise.resolve();
    }
    expect(store.groups).toEqual([['a'], ['b']]);
    await store.answer();
    expect(store.groups).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
    expect(sentWhenTold).toEqual([3]);
    await store.answer();
    void commits.append(append('f'));
    await store.answer();
    expect(store.groups.at(-1)).toEqual(['f']);
    expect(sentWhenTold).toHaveLength(5);
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
    for (let flush = 0; flush < 4; flush++) {
      await Promise.resolve();
      await store.answer();
    }
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
