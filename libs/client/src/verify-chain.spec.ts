import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Commit, verifyChain } from './verify-chain.ts';

function log(commits = 4): Commit[] {
  const made: Commit[] = [];
  let version = 0;
  for (let index = 0; index < commits; index += 1) {
    const count = (index % 2) + 1;
    const body = JSON.stringify({
      events: Array.from({ length: count }, () => ({ type: 'X', text: 'Zürich ✓' })),
      effects: [],
    });
    made.push(
      seal({
        v: 1,
        tenant: 'acme',
        thread: 'thr_1',
        version,
        count,
        inputs: [`c:${index}`],
        at: 1_000 + index,
        nonce: `n${index}`,
        trace: null,
        kid: null,
        prev: made.at(-1)?.hash ?? '',
        hash: '',
        body,
      }),
    );
    version += count;
  }
  return made;
}

function seal(commit: Commit): Commit {
  const { prev, tenant, thread, version, count, inputs, at, nonce, trace, kid, body } = commit;
  const fields = [prev, tenant, thread, version, count, inputs, at, nonce, trace, kid];
  return {
    ...commit,
    hash: createHash('sha256')
      .update(`${JSON.stringify(fields)}\n${body}`)
      .digest('hex'),
  };
}

const changed = (index: number, change: Partial<Commit>): Commit[] =>
  log().map((commit, at) => (at === index ? { ...commit, ...change } : commit));

/** Changed and hashed again, as an attacker could that is able to compute hashes but not to rewrite later commits. */
const resealed = (index: number, change: Partial<Commit>): Commit[] =>
  log().map((commit, at) => (at === index ? seal({ ...commit, ...change }) : commit));

const reasonOf = async (commits: readonly Commit[]): Promise<string> => {
  const verdict = await verifyChain(commits);
  return verdict.ok ? 'ok' : `${verdict.index}: ${verdict.reason}`;
};

describe('the hash chain', () => {
  it('I-03 of an untouched log verifies, and names its head', async () => {
    const commits = log();
    expect(await verifyChain(commits)).toEqual({ ok: true, commits: 4, events: 6, head: commits.at(-1)?.hash });
    expect(await verifyChain([])).toEqual({ ok: true, commits: 0, events: 0, head: '' });
  });

  it.each([
    ['nonce', { nonce: 'other' }],
    ['body', { body: log()[1]?.body.replace('Zürich', 'Zurich') ?? '' }],
    ['trace', { trace: '00-1' }],
    ['time', { at: 1_001.5 }],
    ['inputs', { inputs: ['c:other'] }],
    ['hash', { hash: '0'.repeat(64) }],
  ])('finds a changed %s', async (_field, change) => {
    expect(await reasonOf(changed(1, change))).toBe('1: was changed: its hash does not fit its contents');
  });

  it('finds a commit that was changed and sealed again', async () => {
    expect(await reasonOf(resealed(1, { nonce: 'other' }))).toMatch(/^2: does not follow/);
  });

  it('finds a missing, a repeated, a swapped and a foreign commit', async () => {
    const [a, b, c, d] = log() as [Commit, Commit, Commit, Commit];
    expect(await reasonOf([a, c, d])).toMatch(/^1: begins at version 3, expected 1/);
    expect(await reasonOf([a, a, b])).toMatch(/^1: begins at version/);
    expect(await reasonOf([a, c, b, d])).toMatch(/^1: /);
    expect(await reasonOf([b, c])).toMatch(/^0: begins at version 1/);
    expect(await reasonOf([a, seal({ ...b, thread: 'thr_2' })])).toMatch(/^1: belongs to another thread/);
  });

  it('finds what no honest writer writes, even well sealed', async () => {
    const [a, b] = log() as [Commit, Commit];
    expect(await reasonOf([a, seal({ ...b, at: 1 })])).toMatch(/^1: was decided before/);
    expect(await reasonOf([a, seal({ ...b, inputs: ['c:0'] })])).toMatch(/^1: decides the input c:0 a second time/);
    expect(await reasonOf([seal({ ...a, count: 2 })])).toMatch(/^0: says it has 2 events/);
    expect(await reasonOf([seal({ ...a, prev: 'x' })])).toMatch(/^0: is not the first/);
  });

  it('does not need to read encrypted contents', async () => {
    const [a] = log() as [Commit];
    expect(await reasonOf([seal({ ...a, kid: 'k1', body: 'sealed' })])).toBe('ok');
  });
});
