import { tenantId, type ThreadKey, type ThreadRow } from '@dormouse/ports';
import { defaultLimits, defaultPolicies, type ThreadOpening } from '@dormouse/thread';
import { describe, expect, it } from 'vitest';
import { type IngressRig, ingressRig } from '../spec/ingress-rig.ts';
import { createThreadLookup, type ThreadLookup, threadRememberedMs } from './thread-lookup.ts';

const acme = tenantId('acme');

const thread = 'thr_01J8ZC5T9Q3V0W4X7Y2A6B8C1D';
const origin = { tenant: acme, method: 'POST', path: '/', idempotencyKey: null } as const;

const row: ThreadRow = {
  tenant: acme,
  thread,
  status: 'idle',
  agent: 'helper',
  agentVersion: 1,
  parent: null,
  family: thread,
  userId: null,
  externalId: null,
  title: null,
  metadata: {},
  createdAt: 0,
  updatedAt: 0,
  position: 1,
  opening: null,
};

/** As a request names it: an object of its own, the thread a piece of a longer text. */
const named = (tenant = acme): ThreadKey => ({ tenant, thread: `/v1/threads/${thread}/messages`.slice(12, -9) });

async function lookup(): Promise<{ readonly at: IngressRig; readonly threads: ThreadLookup }> {
  const at = ingressRig();
  await at.ports.directory.insert(row);
  return { at, threads: createThreadLookup({ directory: at.ports.directory, bus: at.ports.inputs, clock: at.clock }) };
}

async function found(threads: ThreadLookup, key: ThreadKey): Promise<ThreadKey> {
  const answer = await threads.find(key);
  if (!answer.ok) throw new Error(answer.refusal.detail);
  return answer.value;
}

describe('the key of a thread (W2)', () => {
  it('is one, whoever names it, from the first time that it is looked for', async () => {
    const { threads } = await lookup();
    const asked = named();
    const first = await found(threads, asked);
    expect(first).toEqual(asked);
    expect(first).not.toBe(asked); // a slice that keeps the whole path in memory
    expect(await found(threads, named())).toBe(first);
    expect(threads.keyOf(named())).toBe(first);
  });

  it('is one for those who look at the same time, and for who opens it again', async () => {
    const { threads } = await lookup();
    const [first, second] = await Promise.all([found(threads, named()), found(threads, named())]);
    expect(second).toBe(first);
    threads.remember(named());
    expect(threads.keyOf(named())).toBe(first);
  });

  it('is the one that was given while nothing is known', async () => {
    const { threads } = await lookup();
    const given = named();
    expect(threads.keyOf(given)).toBe(given);
  });

  it('is nobody else’s, however often he asks', async () => {
    const { threads } = await lookup();
    await found(threads, named());
    for (let asked = 0; asked < 2; asked++)
      expect(await threads.find(named(tenantId('other')))).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
    const stranger = named(tenantId('other'));
    expect(threads.keyOf(stranger)).toBe(stranger);
  });

  it('stands at once for a thread that was just opened, and nothing is read', async () => {
    const { at } = await lookup();
    const directory = { ...at.ports.directory, get: () => Promise.reject(new Error('read')) };
    const threads = createThreadLookup({ directory, bus: at.ports.inputs, clock: at.clock });
    const opened = named();
    threads.remember(opened);
    expect(await threads.find(named())).toEqual({ ok: true, value: opened });
    expect(threads.keyOf(named())).toBe(opened);
  });

  it('goes the whole way of a message', async () => {
    const at = ingressRig();
    await at.ports.directory.insert(row);
    const published: ThreadKey[] = [];
    const watched: ThreadKey[] = [];
    const ingress = at.ingressWith({
      bus: {
        ...at.ports.inputs,
        publish: async (key) => void published.push(key),
      },
      feed: {
        ...at.ports.feed,
        subscribe: (key, listener) => {
          watched.push(key);
          return at.ports.feed.subscribe(key, listener);
        },
      },
    });
    const post = () => ingress.messages.post(named(), [{ type: 'text', text: 'Hello' }], origin);
    await post();
    await post();
    const watch = await ingress.watchTurn(named(), 1_000, new AbortController().signal);
    watch.drop();
    expect(published).toHaveLength(2);
    expect(published[1]).toBe(published[0]);
    expect(watched).toHaveLength(1);
    expect(watched[0]).toBe(published[0]);
  });
});

describe('a thread that is being removed (W4)', () => {
  it('is found while it may still be woken, and no more once it is closed, however lately it was seen', async () => {
    const { at, threads } = await lookup();
    const { directory, restingThreads } = at.ports;
    await found(threads, named());
    await restingThreads.leave(acme, [thread], at.clock.now());
    await at.clock.advance(threadRememberedMs);
    await found(threads, named());
    await directory.project([{ tenant: acme, thread, status: 'closed', title: null, updatedAt: 1, position: 2 }]);
    await at.clock.advance(threadRememberedMs - 1);
    await found(threads, named()); // remembered
    await at.clock.advance(1);
    expect(await threads.find(named())).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
    expect(await at.ingress.threads.get(named())).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
    const fork = await at.ingress.threads.fork(named(), { position: 1, askAgain: false }, origin);
    expect(fork).toMatchObject({ ok: false, refusal: { code: 'NOT_FOUND' } });
  });
});

describe('a child (W3)', () => {
  const child: ThreadKey = { tenant: acme, thread: 'thr_child' };
  const opening: ThreadOpening = {
    kind: 'ThreadOpening',
    id: 'opening',
    agent: {
      name: 'helper',
      version: 1,
      toolServers: [],
      policies: defaultPolicies,
      limits: defaultLimits,
      model: 'demo',
    },
    userId: null,
    title: null,
    message: null,
  };
  const spawned = {
    type: 'ChildSpawned',
    childId: child.thread,
    reason: 'call',
    toolCallId: 'call_1',
    queuedEvents: 0,
  } as const;
  const owed = { do: 'SpawnChild', id: child.thread, childId: child.thread, family: thread, opening } as const;
  const parent: ThreadKey = { tenant: acme, thread };

  async function firstEvent(at: IngressRig): Promise<void> {
    const followed = await at.ingress.follow.follow(parent, 0, new AbortController().signal);
    if (!followed.ok || followed.value === 'nothing_newer') throw new Error('there is no stream');
    for await (const frame of followed.value) if (frame.frame === 'event') return;
  }

  it.each<readonly [string, (at: IngressRig) => Promise<unknown>]>([
    ['a page of events', (at) => at.ingress.events.page(parent, 0, 10)],
    ['a page of commits', (at) => at.ingress.events.commits(parent, 0, 10)],
    ['the stream', firstEvent],
  ])('can be read once %s names it, though its processor has not come to it', async (_what, show) => {
    const { at } = await lookup();
    await at.commit(parent, [spawned], undefined, false, [owed]);
    expect(await at.ingress.threads.get(child)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    await show(at);
    expect(await at.ingress.threads.get(child)).toMatchObject({
      value: { id: child.thread, status: 'opening', parent: thread, agent: { name: 'helper', version: 1 } },
    });
    expect(await at.ports.directory.stuckOpenings(at.clock.now() + 1, 10)).toMatchObject([child]); // to be opened
  });

  it('of a log that was imported is not made', async () => {
    const { at } = await lookup();
    await at.commit(parent, [spawned]);
    await at.ingress.events.page(parent, 0, 10);
    expect(await at.ports.directory.get(child)).toBeNull();
  });
});
