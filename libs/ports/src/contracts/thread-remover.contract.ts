// The contract of `ThreadRemover`, for every adapter: everything that stores have of two threads, of which one goes.
import { describe, expect, it } from 'vitest';
import { tenantId, type Question, type Stores, type ThreadKey, type ThreadRow } from '../index.ts';
import { commitOf, freshKey, messageOf, freshTenant } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

type ThreadRemoverUnderTest = Omit<Stores, 'inputs' | 'work' | 'dedup' | 'feed' | 'rates'>;

const at = 1_700_000_000_000;
const page = { limit: 10, cursor: null };
const forEver = 4_000_000_000_000;
const route = 'POST /v1/threads';

const rowOf = (key: ThreadKey): ThreadRow => ({
  ...key,
  ...{ status: 'idle', agent: 'support', agentVersion: 1, parent: null, family: key.thread, userId: 'ann' },
  ...{ externalId: `x-${key.thread}`, title: 'A title', metadata: { team: key.thread }, createdAt: at, updatedAt: at },
  ...{ position: 2, opening: null, firstWords: 'First words' },
});

const questionOf = (key: ThreadKey, isSettled: boolean): Question => ({
  ...{ ...key, id: `chc_${key.thread}_${isSettled}`, kind: 'approval', family: key.thread, ancestors: [] },
  ...{ agent: 'support', toolCallId: 'call_1', operation: 'deploy', toolServer: 'crm', asked: 1, since: at },
  ...{ expiresAt: forEver, assignees: ['ann'], settled: isSettled ? { position: 2, at } : null },
});

const body = JSON.stringify({ events: ['what was said'], effects: [] });
const shared = 'c'.repeat(64);
const unnamed = 'd'.repeat(64);
const ownBlob = ({ thread }: ThreadKey): string => `blob_${thread}`;

/** One row of each kind, a log of two commits, and the answer of the request that opened the thread. */
async function fill(stores: ThreadRemoverUnderTest, key: ThreadKey): Promise<void> {
  const { tenant, thread } = key;
  await stores.log.append([
    { commit: commitOf(key, 0, { inputs: ['in-0'], body }), owes: false },
    { commit: commitOf(key, 1, { inputs: ['in-1', 'in-2'], body }), owes: false },
  ]);
  await stores.directory.insert(rowOf(key));
  await stores.familyKeys.insert({ tenant, family: thread, sealed: 'sealed key' });
  const totals = { inputTokens: 5, outputTokens: 1, completions: 1, toolCalls: 0, activeMs: 1, waitingMs: 0 };
  await stores.directory.project([
    {
      ...{ ...key, status: 'idle', title: null, updatedAt: at, position: 2 },
      usage: { agent: 'support', days: [{ day: 19_675, ...totals }] },
    },
  ]);
  await stores.snapshots.put(key, { version: 2, shape: 1, state: '{}' });
  await stores.timers.set([{ ...key, timerId: 'tmr_1', due: forEver }]);
  await stores.views.put(key, { viewType: 'form', content: '{"a":1}' });
  await stores.logins.put(key, { toolCallId: 'call_1', sealed: 'sealed', expiresAt: forEver });
  await stores.inbox.put([questionOf(key, false), questionOf(key, true)]);
  await stores.blobs.put(tenant, ownBlob(key), new Uint8Array(100), 'text/plain', thread);
  await stores.blobs.put(tenant, shared, new Uint8Array(10), 'text/plain', thread);
  await stores.blobs.put(tenant, unnamed, new Uint8Array(10), 'text/plain');
  await stores.idempotency.claim(tenant, route, `key ${thread}`, 'c', at, 1_000);
  await stores.idempotency.finish(tenant, route, `key ${thread}`, { status: 201, body: `{"id":"${thread}"}` });
  await stores.ledger.claim(key, 'call_1', 'nonce', at);
  await stores.ledger.settle(key, 'call_1', 'refused', 'The tool says: a secret word.', {
    ...{ toolCallId: 'call_1', number: 1, at, status: 404, durationMs: 3 },
  });
  await stores.parked.park(key, 'why', at);
  await stores.parked.add(key, messageOf(`in-3-${thread}`), null, at);
  await stores.heldThreads.hold(key, 'tenant');
  await stores.callbackCounts.put([{ ...key, toolCallId: 'call_1', reporter: 'one', duplicates: 1, refused: 0 }]);
  await stores.deliveries.claim({ tenant, id: `d-${thread}`, thread, at: Date.now() }); // a store may drop old ones
}

/** What there is of a thread: what `copies` removes, what `everything` removes beside it, and what stays. */
async function found(stores: ThreadRemoverUnderTest, key: ThreadKey) {
  const { tenant, thread } = key;
  const row = await stores.directory.get(key);
  const claim = await stores.idempotency.claim(tenant, route, `key ${thread}`, 'c', at + 1, 1_000);
  if (claim.claim === 'new') await stores.idempotency.abandon(tenant, route, `key ${thread}`);
  const list = async (filter: object): Promise<boolean> =>
    (await stores.directory.list(tenant, filter, page)).data.some((each) => each.thread === thread);
  const asks = async (status: 'open' | 'settled'): Promise<boolean> =>
    (await stores.inbox.list(tenant, { status, thread }, page)).data.length > 0;
  return {
    copies: [
      (await stores.snapshots.latest(key)) !== null,
      (await stores.timers.due(forEver, 10_000)).some((timer) => timer.tenant === tenant && timer.thread === thread),
      (await stores.views.list(key)).length > 0,
      (await stores.logins.list(key, at)).length > 0,
      await asks('open'),
      await asks('settled'),
      (await stores.inbox.openOf(tenant, [thread])).length > 0,
      (await stores.blobs.get(tenant, ownBlob(key))) !== null,
      claim.claim === 'done',
      (await stores.parked.mark(key)) !== null,
      (await stores.parked.inputs(key)).length > 0,
      row?.title === 'A title',
      row?.userId === 'ann',
      row?.firstWords === 'First words',
      await list({ metadata: { team: thread } }),
      await list({ externalId: `x-${thread}` }),
      await list({ userId: 'ann' }),
      ((await stores.ledger.read(key, 'call_1'))?.detail ?? null) !== null,
    ],
    rest: [
      (await stores.log.head(key))?.version === 1,
      (await stores.log.findByInputs(key, ['in-2']))[0] !== null,
      row !== null,
      (await stores.ledger.read(key, 'call_1'))?.outcome === 'refused',
      (await stores.ledger.attempts(key, ['call_1'])).length === 1,
      (await stores.callbackCounts.read(key, ['call_1'])).length === 1,
      (await stores.heldThreads.list({ tenant, by: 'tenant' }, null, 1_000)).some((held) => held.thread === thread),
      (await stores.familyKeys.get(tenant, [thread])).length === 1,
    ],
    kept: [
      (await stores.blobs.get(tenant, unnamed)) !== null,
      (await stores.deliveries.find(tenant, `d-${thread}`))?.thread === thread,
      (await stores.directory.usage(tenant, { groupBy: 'thread', fromDay: 0, toDay: 99_999 }, page)).data.some(
        (usage) => usage.key === thread,
      ),
    ],
  };
}

export function threadRemoverContract(name: string, make: () => Promise<UnderTest<ThreadRemoverUnderTest>>): void {
  describe(`ThreadRemover contract: ${name}`, () => {
    const opened = openedOnce(make);

    /** Of these keys the first goes; the second is of the same tenant and begins with its name. */
    async function filled() {
      const stores = await opened.get();
      const gone = freshKey(freshTenant());
      const other = { ...gone, thread: `${gone.thread}2` };
      const foreign = { ...gone, tenant: tenantId(`${gone.tenant}-2`) };
      for (const key of [gone, other, foreign]) await fill(stores, key);
      const before = await found(stores, other);
      expect(Object.values(before).flat()).not.toContain(false);
      expect(await found(stores, gone)).toEqual(before);
      return { stores, gone, other, foreign, before };
    }

    it('(R1, R2) removes the copies of a thread, and leaves its log and other threads as they are', async () => {
      const { stores, gone, other, foreign, before } = await filled();
      const log = await stores.log.read(gone, 0);
      const removed = await stores.remover.remove(gone.tenant, [gone.thread], 'copies');
      expect(removed.rows).toBeGreaterThan(8);
      expect(removed.bytes).toBe(100);
      const after = await found(stores, gone);
      expect(after.copies).not.toContain(true);
      expect(after.rest).not.toContain(false);
      expect(after.kept).not.toContain(false);
      expect(await stores.log.read(gone, 0)).toEqual(log);
      expect(await stores.directory.get(gone)).toMatchObject({ metadata: {}, status: 'idle', position: 2 });
      for (const key of [other, foreign]) expect(await found(stores, key)).toEqual(before);
      expect(await stores.blobs.get(gone.tenant, shared)).not.toBeNull();
    });

    it('(R1, R3) removes everything of a thread but its usage and what it was woken by', async () => {
      const { stores, gone, other, foreign, before } = await filled();
      const bytes = (await stores.log.read(gone, 0)).reduce((sum, { body }) => sum + body.length, 100);
      expect(await stores.remover.remove(gone.tenant, [gone.thread], 'everything')).toMatchObject({ bytes });
      const after = await found(stores, gone);
      expect([...after.copies, ...after.rest]).not.toContain(true);
      expect(after.kept).not.toContain(false);
      for (const key of [other, foreign]) expect(await found(stores, key)).toEqual(before);
    });

    it('(B1) a blob goes with the last thread that names it', async () => {
      const { stores, gone, other } = await filled();
      await stores.remover.remove(gone.tenant, [gone.thread], 'copies');
      expect(await stores.blobs.get(gone.tenant, shared)).not.toBeNull();
      await stores.remover.remove(gone.tenant, [other.thread], 'everything');
      expect(await stores.blobs.get(gone.tenant, shared)).toBeNull();
      expect(await stores.blobs.get(gone.tenant, unnamed)).not.toBeNull();
      expect(await stores.blobs.put(gone.tenant, shared, new Uint8Array(10), 'text/plain', 'thr_next')).toBe(true);
    });

    it('(R3) finds nothing the second time, and nothing of a thread that never was', async () => {
      const { stores, gone, other } = await filled();
      for (const what of ['copies', 'everything'] as const)
        expect(await stores.remover.remove(gone.tenant, ['thr_never'], what)).toEqual({ rows: 0, bytes: 0 });
      expect(await stores.remover.remove(gone.tenant, [], 'everything')).toEqual({ rows: 0, bytes: 0 });
      await stores.remover.remove(gone.tenant, [gone.thread, other.thread], 'everything');
      const again = await stores.remover.remove(gone.tenant, [gone.thread, other.thread], 'everything');
      expect(again).toEqual({ rows: 0, bytes: 0 });
    });

    it('(R3) removes a long log, and many threads at once', async () => {
      const stores = await opened.get();
      const keys = Array.from({ length: 120 }, () => freshKey());
      const [long = freshKey()] = keys;
      for (let version = 0; version < 2_500; version += 500) {
        const next = Array.from({ length: 500 }, (_, nth) => commitOf(long, version + nth));
        await stores.log.append(next.map((commit) => ({ commit, owes: false })));
      }
      await stores.log.append(keys.slice(1).map((key) => ({ commit: commitOf(key, 0), owes: false })));
      const stays = freshKey();
      await stores.log.append([{ commit: commitOf(stays, 0), owes: false }]);
      await stores.remover.remove(
        long.tenant,
        keys.map(({ thread }) => thread),
        'everything',
      );
      for (const key of keys) expect(await stores.log.head(key)).toBeNull();
      expect(await stores.log.head(stays)).not.toBeNull();
    });

    it('(R4) keeps what a late writer brings for a thread that is gone out of the threads of others', async () => {
      const { stores, gone, other } = await filled();
      const head = await stores.log.head(other);
      await stores.remover.remove(gone.tenant, [gone.thread], 'everything');
      await stores.log.append([{ commit: commitOf(gone, 2), owes: false }]).catch(() => []);
      expect(await stores.log.head(other)).toEqual(head);
      await stores.remover.remove(gone.tenant, [gone.thread], 'everything');
      expect(await stores.log.head(gone)).toBeNull();
      expect(await stores.log.append([{ commit: commitOf(gone, 0), owes: false }])).toEqual(['appended']);
    });

    it('(R4) leaves the places of the tenant good: a reader goes on behind what is gone', async () => {
      const { stores, gone, other } = await filled();
      const { tenant } = gone;
      const end = await stores.tenantLog.end(tenant);
      await stores.remover.remove(tenant, [gone.thread], 'everything');
      const later = freshKey(tenant);
      await stores.log.append([{ commit: commitOf(later, 0), owes: false }]);
      const after = async (place: string | null) =>
        (await stores.tenantLog.after(tenant, place, 10)).map(({ commit }) => commit.thread);
      await expect.poll(() => after(end), { timeout: 20_000 }).toEqual([later.thread]);
      const all = async (): Promise<readonly string[]> => {
        const threads: string[] = [];
        let place: string | null = null;
        for (;;) {
          const read = await stores.tenantLog.after(tenant, place, 2);
          if (read.length === 0) return threads.toSorted();
          threads.push(...read.map(({ commit }) => commit.thread));
          place = read.at(-1)?.place ?? null;
        }
      };
      const expected = [other.thread, other.thread, later.thread].toSorted();
      await expect.poll(all, { timeout: 20_000 }).toEqual(expected);
    });
  });
}
