// The contract of `ThreadLog` (L1..L6), for every adapter.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  tenantId,
  type Append,
  type AppendAnswer,
  type AppendOutcome,
  type Commit,
  type ThreadKey,
  type ThreadLog,
} from '../index.ts';
import { commitOf, freshKey } from './samples.ts';
import { settle } from './until.ts';

export interface ThreadLogUnderTest {
  readonly log: ThreadLog;
  close(): Promise<void>;
  /** For logs that outlive their process: closes and opens the same data again. */
  reopen?(): Promise<ThreadLogUnderTest>;
}

const append = (commit: Commit, owes = false): Append => ({ commit, owes });

export interface ThreadLogTraits {
  /** It seals what it stores with keys of its own. Default: false. */
  readonly seals?: boolean;
}

export function threadLogContract(
  name: string,
  make: () => Promise<ThreadLogUnderTest>,
  { seals = false }: ThreadLogTraits = {},
): void {
  describe(`ThreadLog contract: ${name}`, () => {
    // One log for all: every test has threads of its own.
    let opened: ThreadLogUnderTest | null = null;
    const open = async (): Promise<ThreadLog> => {
      opened ??= await make();
      return opened.log;
    };
    afterAll(async () => opened?.close());
    const one = async (log: ThreadLog, commit: Commit): Promise<AppendAnswer | undefined> =>
      (await log.append([append(commit)]))[0];

    describe('L1: one commit per version, and only at the head', () => {
      it('L1: a thread begins with version 0 and goes on where the last commit ended', async () => {
        const log = await open();
        const key = freshKey();
        expect(await one(log, commitOf(key, 1))).toBe('conflict');
        expect(await one(log, commitOf(key, 0, { count: 3 }))).toBe('appended');
        expect(await one(log, commitOf(key, 1))).toBe('conflict');
        expect(await one(log, commitOf(key, 2))).toBe('conflict');
        expect(await one(log, commitOf(key, 4))).toBe('conflict');
        expect(await one(log, commitOf(key, 3))).toBe('appended');
        expect((await log.read(key, 0)).map((commit) => commit.version)).toEqual([0, 3]);
      });

      it('L1: of many who append the same version at once exactly one wins', async () => {
        const log = await open();
        const key = freshKey();
        for (let version = 0; version < 5; version += 1) {
          const rivals = Array.from({ length: 20 }, () => commitOf(key, version));
          const outcomes = await Promise.all(rivals.map((commit) => one(log, commit)));
          expect(outcomes.filter((outcome) => outcome === 'appended')).toHaveLength(1);
          expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(19);
          const winner = rivals[outcomes.indexOf('appended')];
          expect(await log.head(key)).toEqual(winner);
        }
      });

      it('L1: a conflict leaves no trace: its inputs are still free', async () => {
        const log = await open();
        const key = freshKey();
        await one(log, commitOf(key, 0, { inputs: ['first'] }));
        expect(await one(log, commitOf(key, 0, { inputs: ['late'] }))).toBe('conflict');
        expect(await log.findByInputs(key, ['late'])).toEqual([null]);
        expect(await one(log, commitOf(key, 1, { inputs: ['late'] }))).toBe('appended');
      });

      it('L1: threads of the same name in two tenants are two threads', async () => {
        const log = await open();
        const ours = freshKey(tenantId('acme'));
        const theirs = { ...ours, tenant: tenantId('zenith') };
        expect(await one(log, commitOf(ours, 0, { inputs: ['same'] }))).toBe('appended');
        expect(await one(log, commitOf(theirs, 0, { inputs: ['same'] }))).toBe('appended');
        expect(await log.read(ours, 0)).toHaveLength(1);
        expect((await log.head(theirs))?.tenant).toBe('zenith');
      });

      it('L1: names that run together are two threads', async () => {
        const log = await open();
        const { thread } = freshKey();
        for (const key of [
          { tenant: tenantId('a'), thread: `b:${thread}` },
          { tenant: tenantId('a'), thread: `b ${thread}` },
          { tenant: tenantId('a-b'), thread },
          { tenant: tenantId('a'), thread: `-b${thread}` },
        ]) {
          expect(await one(log, commitOf(key, 0, { inputs: ['same'] }))).toBe('appended');
        }
      });
    });

    describe('L2: each input is decided once', () => {
      it('L2: a known input is a duplicate at any later version', async () => {
        const log = await open();
        const key = freshKey();
        await one(log, commitOf(key, 0, { inputs: ['hello'] }));
        await one(log, commitOf(key, 1));
        expect(await one(log, commitOf(key, 2, { inputs: ['hello'] }))).toBe('duplicate');
      });

      it('L2: one known input among several makes a duplicate, and the others stay free', async () => {
        const log = await open();
        const key = freshKey();
        await one(log, commitOf(key, 0, { inputs: ['known'] }));
        expect(await one(log, commitOf(key, 1, { inputs: ['new-1', 'known', 'new-2'] }))).toBe('duplicate');
        expect(await log.findByInputs(key, ['new-1', 'new-2'])).toEqual([null, null]);
        expect(await one(log, commitOf(key, 1, { inputs: ['new-2', 'new-1'] }))).toBe('appended');
      });

      it('L2: when version and input are both taken either answer is right, and nothing is stored', async () => {
        const log = await open();
        const key = freshKey();
        const first = commitOf(key, 0, { inputs: ['hello'] });
        await one(log, first);
        expect(['conflict', 'duplicate']).toContain(await one(log, commitOf(key, 0, { inputs: ['hello'] })));
        expect(await log.read(key, 0)).toEqual([first]);
      });

      it('L2: the same input in another thread is another input', async () => {
        const log = await open();
        const commits = [freshKey(), freshKey()].map((key) => commitOf(key, 0, { inputs: ['hello'] }));
        for (const commit of commits) expect(await one(log, commit)).toBe('appended');
        for (const commit of commits) expect(await log.findByInputs(commit, ['hello'])).toEqual([commit]);
        expect(await log.findByInputs(freshKey(), ['hello'])).toEqual([null]);
      });

      it('L2: of many who race to decide one input, each trying until it is decided, exactly one commits it', async () => {
        const log = await open();
        const key = freshKey();
        const decideUntilDone = async (): Promise<boolean> => {
          for (;;) {
            const head = await log.head(key);
            const outcome = await one(log, commitOf(key, head ? head.version + head.count : 0, { inputs: ['wanted'] }));
            if (outcome !== 'conflict') return outcome === 'appended';
            // Another writer moved the thread.
            const [found] = await log.findByInputs(key, ['wanted']);
            if (found) return false;
          }
        };
        const won = await Promise.all(Array.from({ length: 16 }, decideUntilDone));
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await log.read(key, 0)).toHaveLength(1);
      });
    });

    describe('L3: what was appended is read', () => {
      it('L3: every field comes back as it was, whatever is in it', async () => {
        const log = await open();
        const key = freshKey();
        const commit = commitOf(key, 0, {
          count: 2,
          inputs: ['c:1', 'r:call "x"', 'ünïcödé'],
          trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
          at: 8_640_000_000_000_000,
          body: JSON.stringify({ events: [], text: `${'x'.repeat(300_000)} 🐢 \u0000 \u2028` }),
        });
        expect(await one(log, commit)).toBe('appended');
        expect(await log.read(key, 0)).toEqual([commit]);
        expect(await log.head(key)).toEqual(commit);
        expect(await log.at(key, 1)).toEqual(commit);
        expect(await log.findByInputs(key, ['ünïcödé'])).toEqual([commit]);
      });

      it.skipIf(seals)('L3: the key id of a body that is sealed comes back', async () => {
        const log = await open();
        const commit = commitOf(freshKey(), 0, { kid: 'key-7' });
        expect(await one(log, commit)).toBe('appended');
        expect(await log.read(commit, 0)).toEqual([commit]);
      });

      it('L3: `read` gives the commits from a version on, in order, and no more than the limit', async () => {
        const log = await open();
        const key = freshKey();
        const stored = await growThread(log, key, [2, 1, 3, 1, 1]);
        expect(await log.read(key, 0)).toEqual(stored);
        expect(await log.read(key, 3)).toEqual(stored.slice(2));
        expect(await log.read(key, 0, 2)).toEqual(stored.slice(0, 2));
        expect(await log.read(key, 2, 2)).toEqual(stored.slice(1, 3));
        expect(await log.read(key, 100)).toEqual([]);
      });

      it('L3: `read` gives long threads whole', async () => {
        const log = await open();
        const key = freshKey();
        const stored = await growThread(
          log,
          key,
          Array.from({ length: 1_300 }, () => 1),
        );
        expect(await log.read(key, 0)).toEqual(stored);
        expect(await log.read(key, 7, 1_100)).toEqual(stored.slice(7, 1_107));
      });

      it('L3: `at` gives the commit that holds a position, and null beyond the head', async () => {
        const log = await open();
        const key = freshKey();
        const [first, second] = await growThread(log, key, [3, 2]);
        expect(await log.at(key, 1)).toEqual(first);
        expect(await log.at(key, 3)).toEqual(first);
        expect(await log.at(key, 4)).toEqual(second);
        expect(await log.at(key, 5)).toEqual(second);
        expect(await log.at(key, 6)).toBeNull();
        expect(await log.at(key, 0)).toBeNull();
        expect(await log.at(freshKey(), 1)).toBeNull();
      });

      it('L3: `findByInputs` answers in the order asked', async () => {
        const log = await open();
        const key = freshKey();
        const first = commitOf(key, 0, { inputs: ['a', 'b'] });
        const second = commitOf(key, 1, { inputs: ['c'] });
        await log.append([append(first), append(second)]);
        expect(await log.findByInputs(key, ['c', 'nobody', 'b', 'a'])).toEqual([second, null, first, first]);
        expect(await log.findByInputs(key, [])).toEqual([]);
      });

      it('L3: a thread without commits has none', async () => {
        const log = await open();
        expect(await log.read(freshKey(), 0)).toEqual([]);
        expect(await log.head(freshKey())).toBeNull();
      });

      it('L3: whoever was answered reads his commit, while many others write', async () => {
        const log = await open();
        await Promise.all(
          Array.from({ length: 64 }, async () => {
            const key = freshKey();
            for (let version = 0; version < 4; version += 1) {
              const commit = commitOf(key, version);
              expect(await one(log, commit)).toBe('appended');
              expect(await log.head(key)).toEqual(commit);
            }
          }),
        );
      });

      it('L3: what was answered is there after closing and opening again', async (context) => {
        opened ??= await make();
        if (!opened.reopen) return context.skip('this log does not outlive its process');
        const key = freshKey();
        const stored = await growThread(opened.log, key, [1, 2, 1]);
        opened = await opened.reopen();
        expect(await opened.log.read(key, 0)).toEqual(stored);
        expect(await one(opened.log, commitOf(key, 0))).toBe('conflict');
        expect(await one(opened.log, commitOf(key, 4, { inputs: stored[0]?.inputs ?? [] }))).toBe('duplicate');
        expect(await one(opened.log, commitOf(key, 4))).toBe('appended');
      });
    });

    describe('L4: each commit of a group has its own outcome', () => {
      it('L4: conflicts and duplicates in a group harm nobody else', async () => {
        const log = await open();
        const [a, b, c] = [freshKey(), freshKey(), freshKey()];
        await one(log, commitOf(a, 0, { inputs: ['known'] }));
        const group = [
          commitOf(a, 1, { inputs: ['known'] }),
          commitOf(b, 0),
          commitOf(c, 5),
          commitOf(a, 1),
          commitOf(c, 0),
        ];
        const outcomes = await log.append(group.map((commit) => append(commit)));
        expect(outcomes).toEqual(['duplicate', 'appended', 'conflict', 'appended', 'appended']);
        expect(await log.head(a)).toEqual(group[3]);
        expect(await log.head(b)).toEqual(group[1]);
        expect(await log.head(c)).toEqual(group[4]);
      });

      it('L4: commits of one thread apply in the order of the group', async () => {
        const log = await open();
        const key = freshKey();
        const group = [commitOf(key, 0), commitOf(key, 1, { count: 2 }), commitOf(key, 3)];
        expect(await log.append(group.map((commit) => append(commit)))).toEqual(['appended', 'appended', 'appended']);
        expect(await log.read(key, 0)).toEqual(group);
      });

      it('L4: an empty group has no outcomes', async () => {
        const log = await open();
        expect(await log.append([])).toEqual([]);
      });

      it('L4: any groups, in any order, answer as one who appends them one by one', async () => {
        const log = await open();
        await fc.assert(
          fc.asyncProperty(attempts, async (groups) => answersLikeTheModel(log, groups)),
          { numRuns: 60 },
        );
      });

      it('L4: groups that are on their way at once, over the same threads in opposite orders, share them without a gap', async () => {
        const log = await open();
        for (let round = 0; round < 10; round += 1) {
          const keys = Array.from({ length: 12 }, () => freshKey());
          const groups = [keys, keys.toReversed(), keys].map((order) => order.map((key) => commitOf(key, 0)));
          const outcomes = await Promise.all(groups.map((group) => log.append(group.map((commit) => append(commit)))));
          for (const key of keys) {
            const told = groups.flatMap((group, place) =>
              group.flatMap((commit, index) =>
                commit.thread === key.thread ? [{ commit, outcome: outcomes[place]?.[index] }] : [],
              ),
            );
            const appended = told.filter(({ outcome }) => outcome === 'appended');
            expect(appended).toHaveLength(1);
            expect(told.filter(({ outcome }) => outcome === 'conflict')).toHaveLength(groups.length - 1);
            expect(await log.read(key, 0)).toEqual(appended.map(({ commit }) => commit));
          }
        }
      });

      it('L4: 200 appends at once on 64 threads: each thread is gapless and holds exactly what was answered', async () => {
        const log = await open();
        const keys = Array.from({ length: 64 }, () => freshKey());
        const answered = new Map<string, Commit[]>();
        const writers = Array.from({ length: 200 }, async (_, index) => {
          const key = keys[index % keys.length] ?? freshKey();
          for (let done = 0; done < 3;) {
            const head = await log.head(key);
            const commit = commitOf(key, head ? head.version + head.count : 0, { count: 1 + (index % 3) });
            if ((await one(log, commit)) !== 'appended') continue;
            answered.set(key.thread, [...(answered.get(key.thread) ?? []), commit]);
            done += 1;
          }
        });
        await Promise.all(writers);
        for (const key of keys) {
          const stored = await log.read(key, 0);
          const expected = [...(answered.get(key.thread) ?? [])].sort((left, right) => left.version - right.version);
          expect(stored).toEqual(expected);
          expectGapless(stored);
        }
      });
    });

    describe('L5 and L6: outcomes are known, reads that fail throw', () => {
      it('L5: whoever does not know his outcome finds his commit by nonce', async () => {
        const log = await open();
        const key = freshKey();
        const mine = commitOf(key, 0, { nonce: 'mine' });
        await one(log, mine);
        const found = await log.at(key, mine.version + 1);
        expect(found?.nonce).toBe('mine');
      });

      it('L6: a closed log throws, it does not say that there is nothing', async () => {
        const log = await open();
        const key = freshKey();
        await one(log, commitOf(key, 0));
        await opened?.close();
        opened = null;
        const unavailable = { name: 'Fault', code: 'UNAVAILABLE' };
        await expect(log.read(key, 0)).rejects.toMatchObject(unavailable);
        await expect(log.head(key)).rejects.toMatchObject(unavailable);
        await expect(log.at(key, 1)).rejects.toMatchObject(unavailable);
        await expect(log.findByInputs(key, ['x'])).rejects.toMatchObject(unavailable);
        await expect(log.append([append(commitOf(key, 1))])).rejects.toMatchObject(unavailable);
      });
    });
  });
}

async function growThread(log: ThreadLog, key: ThreadKey, counts: readonly number[]): Promise<Commit[]> {
  let version = 0;
  const commits = counts.map((count) => {
    const commit = commitOf(key, version, { count });
    version += count;
    return commit;
  });
  const outcomes = await log.append(commits.map((commit) => append(commit)));
  expect(outcomes.every((outcome) => outcome === 'appended')).toBe(true);
  return commits;
}

function expectGapless(commits: readonly Commit[]): void {
  let next = 0;
  for (const commit of commits) {
    expect(commit.version).toBe(next);
    next += commit.count;
  }
}

/** Few threads, versions and inputs, so that attempts collide. */
const attempts = fc.array(
  fc.record({
    isLate: fc.boolean(),
    group: fc.array(
      fc.record({
        thread: fc.integer({ min: 0, max: 2 }),
        version: fc.integer({ min: 0, max: 6 }),
        count: fc.integer({ min: 1, max: 2 }),
        inputs: fc.uniqueArray(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

type Attempts = typeof attempts extends fc.Arbitrary<infer Groups> ? Groups : never;

/** The model: an array per thread. Only the answer to an append that violates both keys is left open. (L2) */
async function answersLikeTheModel(log: ThreadLog, groups: Attempts): Promise<void> {
  const keys = [freshKey(), freshKey(), freshKey()];
  const model = keys.map((): Commit[] => []);
  for (const { group, isLate } of groups) {
    const expected: AppendOutcome[][] = [];
    const appends = group.map(({ thread, version, count, inputs }): Append => {
      const key = keys[thread] ?? freshKey();
      const stored = model[thread] ?? [];
      const commit = commitOf(key, version, { count, inputs: inputs.map((input) => `i-${input}`) });
      const wrongVersion = version !== stored.reduce((sum, each) => sum + each.count, 0);
      const known = commit.inputs.some((input) => stored.some((each) => each.inputs.includes(input)));
      const wrong: AppendOutcome[] = [
        ...(wrongVersion ? (['conflict'] as const) : []),
        ...(known ? (['duplicate'] as const) : []),
      ];
      expected.push(wrong.length > 0 ? wrong : ['appended']);
      if (wrong.length === 0) stored.push(commit);
      return append(commit);
    });
    if (isLate) await settle();
    const outcomes = await log.append(appends);
    outcomes.forEach((outcome, index) => expect(expected[index]).toContain(outcome));
  }
  for (const [index, key] of keys.entries()) expect(await log.read(key, 0)).toEqual(model[index]);
}
