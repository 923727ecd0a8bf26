import { createManualClock, createMemoryWorld, type Gate, plainCipher, plainSealer } from '@dormouse/adapter-memory';
import { tenantId, type Commit, type ThreadKey } from '@dormouse/ports';
import { describe, expect, it } from 'vitest';
import { chainHash, openCommit, sealCommit } from '../log/envelope.ts';
import { createFamilyKeyring } from './family-keyring.ts';
import { sealedStores } from './sealed-stores.ts';

const acme = tenantId('acme');

const key: ThreadKey = { tenant: acme, thread: 'thr_1' };

function rig(see: (operation: string) => void = () => {}) {
  const clock = createManualClock();
  const pass: Gate['pass'] = async (_node, operation, apply) => {
    see(operation.name);
    return apply();
  };
  const world = createMemoryWorld({ clock, gate: { pass } });
  const node = (keptMs = 1_000) => {
    const ports = world.ports('node');
    const keyring = createFamilyKeyring({ ...ports, sealer: plainSealer, cipher: plainCipher, clock, keptMs });
    return { keyring, stores: sealedStores(ports, { keyring, isFeedStored: false }) };
  };
  return { clock, world, node };
}

function commit(at: ThreadKey, version: number, prev: string, text = `word ${version}`): Commit {
  const { tenant } = at;
  const cause = { kind: 'message', id: `m${version}` } as const;
  const content = [{ type: 'text', text } as const];
  return sealCommit({
    ...{ key: { tenant, thread: at.thread }, version, inputs: [`in-${version}`], at: version, nonce: `n${version}` },
    ...{ trace: null, prev, effects: [] },
    events: [{ type: 'MessageAccepted', messageId: `m${version}`, content, turnId: 't', cause }],
  });
}

type Log = ReturnType<ReturnType<typeof rig>['node']>['stores']['log'];

async function grow(log: Log, at: ThreadKey, count: number, from: readonly Commit[] = []): Promise<readonly Commit[]> {
  const all = [...from];
  for (let nth = 0; nth < count; nth += 1) {
    const next = commit(at, all.length, all.at(-1)?.hash ?? '');
    expect(await log.append([{ commit: next, owes: false }])).toEqual(['appended']);
    all.push(next);
  }
  return all;
}

/** What `dormouse verify` checks of commits as they are stored. */
function expectChain(commits: readonly Commit[]): void {
  let prev = '';
  for (const each of commits) {
    expect(each.prev).toBe(prev);
    expect(each.hash).toBe(chainHash(each));
    prev = each.hash;
  }
}

describe('a sealed log', () => {
  it('L1, L2 gives back what was appended; what is stored is sealed, and a chain of its own', async () => {
    const { world, node } = rig();
    const { stores } = node();
    const all = await grow(stores.log, key, 4);
    expect(await stores.log.read(key, 0)).toEqual(all);
    expectChain(all);
    const stored = world.commits(key);
    expectChain(stored);
    expect(stored.map(({ kid }) => kid)).toEqual(['thr_1', 'thr_1', 'thr_1', 'thr_1']);
    expect(JSON.stringify(stored)).not.toContain('word');
  });

  it('L2 another process goes on with the chain, whether it has read the thread or not', async () => {
    const { world, node } = rig();
    const all = await grow(node().stores.log, key, 2);
    const cold = await grow(node().stores.log, key, 2, all);
    const other = node().stores.log;
    await other.read(key, 0);
    await grow(other, key, 2, cold);
    expectChain(world.commits(key));
  });

  it('L4 a process that lost a race follows the winner', async () => {
    const { world, node } = rig();
    const [one, other] = [node().stores.log, node().stores.log];
    const all = await grow(one, key, 2);
    const winner = commit(key, 2, all[1]?.hash ?? '', 'winner');
    const loser = { ...commit(key, 2, all[1]?.hash ?? '', 'loser'), inputs: ['in-lost'] };
    expect(await other.append([{ commit: winner, owes: false }])).toEqual(['appended']);
    expect(await one.append([{ commit: loser, owes: false }])).toEqual(['conflict']);
    await grow(one, key, 2, [...all, winner]);
    expectChain(world.commits(key));
  });

  it('L4 commits of one thread that are appended at once are one chain', async () => {
    const { world, node } = rig();
    const { log } = node().stores;
    const all: Commit[] = [];
    for (let version = 0; version < 6; version += 1) all.push(commit(key, version, all.at(-1)?.hash ?? ''));
    const [first, second, ...rest] = all.map((each) => ({ commit: each, owes: false }));
    if (first === undefined || second === undefined) throw new Error('there are six');
    await Promise.all([log.append([first, second]), ...rest.map((each) => log.append([each]))]);
    expectChain(world.commits(key));
    expect(await log.read(key, 0)).toEqual(all);
  });

  it('L2 commits of before stay as they are, and the chain goes on behind them', async () => {
    const { world, node } = rig();
    const clear = await grow(world.ports('old').log, key, 3);
    const { stores } = node();
    const all = await grow(stores.log, key, 2, clear);
    expect(await stores.log.read(key, 0)).toEqual(all);
    const stored = world.commits(key);
    expectChain(stored);
    expect(stored.map(({ kid }) => kid)).toEqual([null, null, null, 'thr_1', 'thr_1']);
  });

  it('L3 contents of an erased family are read as they are stored: as many events, and the stored chain', async () => {
    const { world, node } = rig();
    const { stores, keyring } = node();
    const all = await grow(stores.log, key, 3);
    await keyring.erase(acme, ['thr_1']);
    const read = await stores.log.read(key, 0);
    expect(read).toEqual(world.commits(key));
    expectChain(read);
    expect(read.flatMap((each) => openCommit(each).events.map(({ type }) => type))).toEqual([
      ...['ContentErased', 'ContentErased', 'ContentErased'],
    ]);
    await grow(stores.log, key, 1, all); // a late refusal: stored without its content
    const stored = world.commits(key);
    expectChain(stored);
    expect(stored.at(-1)).toMatchObject({ kid: 'thr_1', body: '' });
    expect(JSON.stringify(stored)).not.toContain('word');
  });

  it('L5 a thread that is active here costs no read, of its log or of its key', async () => {
    const reads: string[] = [];
    const { node } = rig((operation) => reads.push(operation));
    const { stores } = node();
    const all = await grow(stores.log, key, 1);
    reads.length = 0;
    await grow(stores.log, key, 3, all);
    expect(reads).toEqual(['log.append', 'log.append', 'log.append']);
  });

  it('K2 another process forgets the key of an erased family in time', async () => {
    const { clock, node } = rig();
    const [one, other] = [node(), node()];
    await grow(one.stores.log, key, 1);
    await other.stores.log.read(key, 0);
    await one.keyring.erase(acme, ['thr_1']);
    expect((await other.stores.log.read(key, 0)).map(({ kid }) => kid)).toEqual([null]); // not yet
    await clock.advance(1_000);
    expect((await other.stores.log.read(key, 0)).map(({ kid }) => kid)).toEqual(['thr_1']);
  });

  it('K4 a key that is not there is a fault, not an empty thread', async () => {
    const { world, node } = rig();
    await grow(node().stores.log, key, 1);
    world.durable.familyKeys.clear();
    await expect(node().stores.log.read(key, 0)).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' });
  });

  it('a body that is moved to another place does not open', async () => {
    const { world, node } = rig();
    const { log } = node().stores;
    await grow(log, key, 2);
    const [first, second] = world.commits(key);
    if (first === undefined || second === undefined) throw new Error('there are two');
    world.durable.log.threads.get('acme:thr_1')?.commits.splice(1, 1, { ...second, body: first.body });
    await expect(log.read(key, 0)).rejects.toThrow('does not open');
  });
});
