// The contract of `ThreadDirectory`, for every adapter.
//
//   R1. A thread id and, per tenant, an external id are taken once; a later insert gets the row that has it.
//   R2. A list is newest first and complete: its pages, one after the other, are the list.
//   R3. Every filter holds for every row given, and no row that passes all of them is left out.
//   R4. A projection of an older position changes nothing; one without a title keeps the title.
//   R5. An opening is kept until the thread has a position.
//   R6. A client's title and metadata replace what was there, and nothing else.
//   R7. The census counts every thread by its status, and knows the oldest wait of each kind and all subscriptions.
//   R9. What a tenant has open follows insertions and projections: threads that are not closed, their subscriptions.
//   R8. The oldest open call at a tool server is found by tenant and name, as long as its thread has it open.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tenantId, type TenantId, type ThreadDirectory, type ThreadFilter, type ThreadRow } from '../index.ts';
import { freshKey } from './samples.ts';
import { openedOnce, type UnderTest } from './under-test.ts';

let tenants = 0;

/** A tenant that no other test uses. */
const freshTenant = (): TenantId => tenantId(`tenant-${(tenants += 1)}-${Math.random().toString(36).slice(2, 8)}`);

function rowOf(changes: Partial<ThreadRow> = {}): ThreadRow {
  const key = freshKey(changes.tenant ?? tenantId('acme'));
  return {
    ...key,
    status: 'idle',
    agent: 'support',
    agentVersion: 3,
    parent: null,
    family: key.thread,
    userId: null,
    externalId: null,
    title: null,
    metadata: {},
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    position: 5,
    opening: null,
    ...changes,
  };
}

const opening: ThreadRow['opening'] = {
  kind: 'ThreadOpening',
  id: 'open:x',
  agent: {
    name: 'support',
    version: 3,
    model: 'demo',
    toolServers: ['tools'],
    policies: {
      onInterrupt: 'cancel',
      onInterruptHuman: 'keep',
      eventStyle: 'kind',
      eventChildren: 'keep',
      approve: { mode: 'none', tools: {} },
      cancelSubscriptionsOnClose: false,
    },
    limits: {
      completionsPerWakeMax: 50,
      toolTimeoutMs: { default: null },
      tokensPerDayMax: null,
      eventWaitMsMax: 60_000,
      callbackTtlS: null,
    },
  },
  userId: null,
  title: 'Hello',
  message: { messageId: 'msg_1', content: [{ type: 'text', text: 'Hi "there" 🐢' }] },
};

export function threadDirectoryContract(name: string, make: () => Promise<UnderTest<ThreadDirectory>>): void {
  describe(`ThreadDirectory contract: ${name}`, () => {
    const opened = openedOnce(make);

    async function listAll(
      directory: ThreadDirectory,
      tenant: TenantId,
      filter: ThreadFilter,
      limit: number,
    ): Promise<ThreadRow[]> {
      const rows: ThreadRow[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<ThreadDirectory['list']>> = await directory.list(tenant, filter, {
          limit,
          cursor,
        });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        if (page.nextCursor !== null) expect(page.data.length).toBeGreaterThan(0);
        rows.push(...page.data);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return rows;
    }

    it('R1: a row comes back as it was inserted', async () => {
      const directory = await opened.get();
      const row = rowOf({
        title: 'Rückfrage 🐢',
        metadata: { order: '7', 'a.b': 'c' },
        userId: 'u-1',
        externalId: `x-${Math.random()}`,
        parent: 'thr_p',
        opening,
        position: 0,
        status: 'opening',
      });
      expect(await directory.insert(row)).toEqual({ inserted: true });
      expect(await directory.get(row)).toEqual(row);
      expect(await directory.get(freshKey())).toBeNull();
      expect(await directory.get({ ...row, tenant: tenantId('zenith') })).toBeNull();
    });

    it('R1: a thread id is taken once, and the row that has it is told', async () => {
      const directory = await opened.get();
      const row = rowOf();
      await directory.insert(row);
      expect(await directory.insert({ ...row, agent: 'other' })).toEqual({ inserted: false, existing: row });
      expect(await directory.get(row)).toEqual(row);
    });

    it('R1: an external id is taken once per tenant, and the row that has it is told', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const row = rowOf({ tenant, externalId: 'order-7' });
      await directory.insert(row);
      const late = rowOf({ tenant, externalId: 'order-7' });
      expect(await directory.insert(late)).toEqual({ inserted: false, existing: row });
      expect(await directory.get(late)).toBeNull();
      expect(await directory.insert(rowOf({ tenant: freshTenant(), externalId: 'order-7' }))).toEqual({
        inserted: true,
      });
      expect(await directory.insert(rowOf({ tenant }))).toEqual({ inserted: true });
      expect(await directory.insert(rowOf({ tenant }))).toEqual({ inserted: true });
    });

    it('R1: an external id that its thread has given up is another’s', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const row = rowOf({ tenant, externalId: 'order-8' });
      await directory.insert(row);
      await directory.releaseExternalId(row, 'order-9'); // not its own
      expect((await directory.insert(rowOf({ tenant, externalId: 'order-8' }))).inserted).toBe(false);
      await directory.releaseExternalId(row, 'order-8');
      await directory.releaseExternalId(row, 'order-8');
      expect(await directory.get(row)).toEqual({ ...row, externalId: null });
      const next = rowOf({ tenant, externalId: 'order-8' });
      expect((await directory.insert(next)).inserted).toBe(true);
      const found = await directory.list(tenant, { externalId: 'order-8' }, { limit: 10, cursor: null });
      expect(found.data.map(({ thread }) => thread)).toEqual([next.thread]);
    });

    it('R1: of many who insert one external id at once exactly one wins', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => directory.insert(rowOf({ tenant, externalId: 'wanted' }))),
      );
      expect(answers.filter((answer) => answer.inserted)).toHaveLength(1);
      const existing = new Set(answers.map((answer) => (answer.inserted ? null : answer.existing.thread)));
      existing.delete(null);
      expect(existing.size).toBe(1);
    });

    it('R2: the list is newest first, and its pages are the list', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      // Several of the same moment may be in any order, but always in the same one.
      const rows = [5, 3, 3, 9, 1, 3, 7].map((createdAt) => rowOf({ tenant, createdAt }));
      for (const row of rows) await directory.insert(row);
      await directory.insert(rowOf({ tenant: freshTenant() }));
      const whole = await listAll(directory, tenant, {}, 100);
      expect(whole.map((row) => row.createdAt)).toEqual([9, 7, 5, 3, 3, 3, 1]);
      expect(new Set(whole.map((row) => row.thread)).size).toBe(rows.length);
      for (const limit of [1, 2, 3, 7]) expect(await listAll(directory, tenant, {}, limit)).toEqual(whole);
    });

    it('R2: the oldest come first where that is wanted', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      for (const createdAt of [5, 3, 9, 3, 1]) await directory.insert(rowOf({ tenant, createdAt }));
      const newestFirst = await listAll(directory, tenant, {}, 100);
      for (const limit of [1, 2, 100])
        expect(await listAll(directory, tenant, { order: 'asc' }, limit)).toEqual(newestFirst.toReversed());
    });

    it('R2: threads that are new do not disturb who is turning pages', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      for (const createdAt of [1, 2, 3, 4]) await directory.insert(rowOf({ tenant, createdAt }));
      const first = await directory.list(tenant, {}, { limit: 2, cursor: null });
      await directory.insert(rowOf({ tenant, createdAt: 5 }));
      const second = await directory.list(tenant, {}, { limit: 2, cursor: first.nextCursor });
      expect(second.data.map((row) => row.createdAt)).toEqual([2, 1]);
      expect(second.nextCursor).toBeNull();
    });

    it('R3: every combination of filters gives exactly the rows that pass all of them', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const rows: ThreadRow[] = [];
      for (let index = 0; index < 36; index += 1) {
        const row = rowOf({
          tenant,
          status: (['idle', 'waiting', 'closed'] as const)[index % 3],
          agent: index % 2 === 0 ? 'support' : 'sales',
          parent: index % 4 === 0 ? 'thr_parent' : null,
          userId: index % 3 === 0 ? 'u-1' : 'u-2',
          externalId: index === 5 ? 'x-5' : null,
          metadata: index % 2 === 0 ? { city: 'Kraków', tier: `${index % 4}` } : { tier: '1' },
          createdAt: 1_000 + index,
          updatedAt: 2_000 + (index % 12),
        });
        rows.push(row);
        await directory.insert(row);
      }
      const maybe = <T>(...values: T[]): fc.Arbitrary<T | undefined> =>
        fc.option(fc.constantFrom(...values), { nil: undefined });
      const filters: fc.Arbitrary<ThreadFilter> = fc.record({
        status: maybe('idle' as const, 'waiting' as const, 'opening' as const),
        waitingBelow: maybe([], [rows[0]?.thread ?? '', rows[1]?.thread ?? '', rows[15]?.thread ?? '', 'thr_none']),
        agent: maybe('support', 'sales', 'nobody'),
        agents: maybe<readonly string[]>(['support'], ['support', 'sales'], []),
        parent: maybe('thr_parent'),
        userId: maybe('u-1', 'u-2'),
        externalId: maybe('x-5'),
        metadata: maybe<Record<string, string>>(
          { city: 'Kraków' },
          { tier: '1' },
          { city: 'Kraków', tier: '2' },
          { city: 'nowhere' },
        ),
        createdAfter: maybe(1_000, 1_020),
        updatedAfter: maybe(2_000, 2_009, 2_011),
        order: maybe('asc' as const, 'desc' as const),
      });
      await fc.assert(
        fc.asyncProperty(filters, async (filter) => {
          const expected = rows
            .filter((row) => passes(row, filter))
            .sort((left, right) => (filter.order === 'asc' ? -1 : 1) * (right.createdAt - left.createdAt));
          expect(await listAll(directory, tenant, filter, 4)).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    });

    it('R4: a projection moves a row forward, never back, and says nothing about a title it does not have', async () => {
      const directory = await opened.get();
      const row = rowOf({ position: 4, title: 'Mine' });
      const { tenant, thread } = row;
      await directory.insert(row);
      await directory.project([{ tenant, thread, status: 'thinking', title: null, updatedAt: 100, position: 8 }]);
      expect(await directory.get(row)).toEqual({ ...row, status: 'thinking', updatedAt: 100, position: 8 });
      await directory.project([{ tenant, thread, status: 'idle', title: 'Old', updatedAt: 50, position: 7 }]);
      expect(await directory.get(row)).toMatchObject({ status: 'thinking', title: 'Mine', position: 8 });
      await directory.project([
        { tenant, thread, status: 'waiting', title: 'Named', updatedAt: 200, position: 9 },
        { ...freshKey(tenant), status: 'idle', title: null, updatedAt: 1, position: 1 },
      ]);
      expect(await directory.get(row)).toMatchObject({ status: 'waiting', title: 'Named', position: 9 });
      expect(await listAll(directory, tenant, { status: 'waiting' }, 200)).toContainEqual(await directory.get(row));
      await directory.project([]);
    });

    it('R4: a title is told once: what a client calls the thread afterwards stays', async () => {
      const directory = await opened.get();
      const row = rowOf({ position: 4, title: null });
      const { tenant, thread } = row;
      await directory.insert(row);
      const named = { tenant, thread, status: 'idle', title: 'Named', titledAt: 6, updatedAt: 1 } as const;
      await directory.project([{ ...named, position: 7 }]);
      expect(await directory.get(row)).toMatchObject({ title: 'Named', position: 7 });
      await directory.patch(row, { title: 'Mine' });
      await directory.project([{ ...named, status: 'waiting', position: 9 }]);
      expect(await directory.get(row)).toMatchObject({ title: 'Mine', position: 9, status: 'waiting' });
      await directory.project([{ ...named, title: 'Newer', titledAt: 12, position: 12 }]);
      expect(await directory.get(row)).toMatchObject({ title: 'Newer', position: 12 });
    });

    it('R4: of projections that race the newest stays', async () => {
      const directory = await opened.get();
      const row = rowOf({ position: 0 });
      const { tenant, thread } = row;
      await directory.insert(row);
      const positions = [5, 2, 9, 7, 1, 8, 3];
      await Promise.all(
        positions.map((position) =>
          directory.project([
            { tenant, thread, status: 'idle', title: `at ${position}`, updatedAt: position, position },
          ]),
        ),
      );
      expect(await directory.get(row)).toMatchObject({ position: 9, title: 'at 9', updatedAt: 9 });
    });

    it('R4: what a row waits for is replaced, and its first words stay', async () => {
      const directory = await opened.get();
      const row = rowOf({ position: 1 });
      const { tenant, thread } = row;
      await directory.insert(row);
      const since = 1_700_000_000_000;
      const call = { kind: 'tool_call', id: 'call_1', toolServer: 'tools', operation: 'deploy', since } as const;
      const waits = { oldest: { tool_call: since }, subscriptions: 0 };
      const base = { tenant, thread, status: 'waiting', title: null, updatedAt: 100 } as const;
      await directory.project([{ ...base, position: 2, waits, waitingOn: [call], firstWords: 'Deploy "it" 🐢' }]);
      const waiting = { ...row, status: 'waiting', updatedAt: 100, firstWords: 'Deploy "it" 🐢', waitingOn: [call] };
      expect(await directory.get(row)).toEqual({ ...waiting, position: 2 });
      await directory.project([{ ...base, status: 'parked', position: 3 }]); // says nothing of either
      expect(await directory.get(row)).toEqual({ ...waiting, status: 'parked', position: 3 });
      const nothing = { oldest: {}, subscriptions: 0 };
      const idle = {
        ...base,
        status: 'idle',
        position: 4,
        waits: nothing,
        waitingOn: [],
        firstWords: 'Other',
      } as const;
      await directory.project([idle]);
      const { waitingOn: _over, ...left } = waiting;
      expect(await directory.get(row)).toEqual({ ...left, status: 'idle', position: 4 });
      const own = rowOf({ firstWords: 'Hello' });
      await directory.insert(own);
      expect(await directory.get(own)).toEqual(own);
    });

    it('R5: threads stuck in `opening` are found with their openings, oldest first, until they are open', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const rows = [30, 10, 20].map((createdAt) =>
        rowOf({ tenant, createdAt, status: 'opening', position: 0, opening }),
      );
      for (const row of rows) await directory.insert(row);
      await directory.insert(rowOf({ tenant, createdAt: 5 }));
      const ours = async (before: number): Promise<readonly ThreadRow[]> =>
        (await directory.stuckOpenings(before, 1_000)).filter((row) => row.tenant === tenant);
      expect((await ours(30)).map((row) => row.createdAt)).toEqual(expect.arrayContaining([10, 20]));
      expect(await ours(30)).toHaveLength(2);
      expect((await ours(31))[0]?.opening).toEqual(opening);
      expect((await directory.stuckOpenings(1_000, 1)).length).toBe(1);
      const [thread] = rows.map((row) => row.thread);
      await directory.project([
        { tenant, thread: thread ?? '', status: 'idle', title: null, updatedAt: 40, position: 1 },
      ]);
      expect(await ours(31)).toHaveLength(2);
      expect((await directory.get({ tenant, thread: thread ?? '' }))?.opening).toBeNull();
    });

    it('R6: a patch replaces title or metadata, and the filters know it', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const row = rowOf({ tenant, title: 'Before', metadata: { a: '1', b: '2' } });
      await directory.insert(row);
      expect(await directory.patch(row, { title: 'After' })).toEqual({ ...row, title: 'After' });
      expect(await directory.patch(row, { metadata: { b: '3' } })).toEqual({
        ...row,
        title: 'After',
        metadata: { b: '3' },
      });
      expect(await directory.patch(row, { title: null })).toEqual({ ...row, title: null, metadata: { b: '3' } });
      expect(await directory.patch(row, {})).toEqual({ ...row, title: null, metadata: { b: '3' } });
      expect(await listAll(directory, tenant, { metadata: { a: '1' } }, 10)).toEqual([]);
      expect(await listAll(directory, tenant, { metadata: { b: '3' } }, 10)).toHaveLength(1);
      expect(await directory.patch(freshKey(), { title: 'nobody' })).toBeNull();
    });

    it('R6: a patch takes first words back, and the row gets the next ones', async () => {
      const directory = await opened.get();
      const row = { ...rowOf({ title: 'Title' }), firstWords: 'inherited words' };
      await directory.insert(row);
      expect(await directory.patch(row, { title: 'Other' })).toEqual({ ...row, title: 'Other' });
      const { firstWords: _, ...without } = row;
      expect(await directory.patch(row, { firstWords: null })).toEqual({ ...without, title: 'Other' });
      expect(await directory.get(row)).toEqual({ ...without, title: 'Other' });
      await directory.project([
        { ...row, status: 'idle', title: null, position: row.position + 1, firstWords: 'own words' },
      ]);
      expect(await directory.get(row)).toMatchObject({ title: 'Other', firstWords: 'own words' });
    });

    it('an agent is used while a thread of it is not closed', async () => {
      const directory = await opened.get();
      const tenant = freshTenant();
      const row = rowOf({ tenant, agent: 'busy' });
      expect(await directory.usesAgent(tenant, 'busy')).toBe(false);
      await directory.insert(row);
      expect(await directory.usesAgent(tenant, 'busy')).toBe(true);
      expect(await directory.usesAgent(freshTenant(), 'busy')).toBe(false);
      await directory.project([
        { tenant, thread: row.thread, status: 'closed', title: null, updatedAt: 9, position: 9 },
      ]);
      expect(await directory.usesAgent(tenant, 'busy')).toBe(false);
    });

    it('R7: the census follows insertions and projections', async () => {
      const directory = await opened.get();
      const before = await directory.census();
      const [one, other] = [rowOf({ status: 'opening', position: 0 }), rowOf()];
      for (const row of [one, other]) await directory.insert(row);
      const waiting = { status: 'waiting', title: null, updatedAt: 9, position: 9 } as const;
      const { tenant, thread } = one;
      const open = { oldest: { approval: 7, timer: 3 }, subscriptions: 2 };
      await directory.project([{ tenant, thread, ...waiting, waits: open }]);
      await directory.project([
        { tenant: other.tenant, thread: other.thread, ...waiting, waits: { oldest: { timer: 5 }, subscriptions: 1 } },
      ]);
      const during = await directory.census();
      expect(during.threads.waiting - before.threads.waiting).toBe(2);
      expect(during.threads.opening - before.threads.opening).toBe(0);
      expect(during.subscriptions - before.subscriptions).toBe(3);
      expect(during.oldest).toMatchObject({ approval: 7, timer: 3 });

      await directory.project([{ tenant, thread, ...waiting, status: 'parked', position: 10 }]); // keeps its waits
      expect((await directory.census()).oldest).toMatchObject({ approval: 7, timer: 3 });
      await directory.project([
        { tenant, thread, ...waiting, status: 'closed', position: 11, waits: { oldest: {}, subscriptions: 0 } },
      ]);
      const after = await directory.census();
      expect(after.oldest).toEqual({ ...before.oldest, timer: 5 });
      expect(after.subscriptions - before.subscriptions).toBe(1);
      expect(after.threads.closed - before.threads.closed).toBe(1);
    });

    it('R9: what a tenant has open follows insertions and projections', async () => {
      const directory = await opened.get();
      const [tenant, elsewhere] = [freshTenant(), freshTenant()];
      expect(await directory.openOf(tenant)).toEqual({ threads: 0, subscriptions: 0 });
      const rows = [rowOf({ tenant }), rowOf({ tenant, status: 'opening', position: 0 }), rowOf({ tenant })] as const;
      for (const row of [...rows, rowOf({ tenant: elsewhere })]) await directory.insert(row);
      expect(await directory.openOf(tenant)).toEqual({ threads: 3, subscriptions: 0 });
      const project = ({ thread }: ThreadRow, status: 'waiting' | 'closed', subscriptions: number, position: number) =>
        directory.project([
          {
            ...{ tenant, thread, status, title: null, updatedAt: 9, position },
            waits: { oldest: {}, subscriptions },
          },
        ]);
      await project(rows[0], 'waiting', 3, 9);
      await project(rows[1], 'waiting', 2, 9);
      expect(await directory.openOf(tenant)).toEqual({ threads: 3, subscriptions: 5 });
      await project(rows[0], 'waiting', 1, 10);
      await project(rows[0], 'waiting', 4, 8); // older
      expect(await directory.openOf(tenant)).toEqual({ threads: 3, subscriptions: 3 });
      await project(rows[1], 'closed', 0, 10);
      await project(rows[2], 'closed', 0, 9);
      expect(await directory.openOf(tenant)).toEqual({ threads: 1, subscriptions: 1 });
      expect(await directory.openOf(elsewhere)).toEqual({ threads: 1, subscriptions: 0 });
    });

    it('R8: the oldest open call of each tool server follows projections', async () => {
      const directory = await opened.get();
      const [tenant, elsewhere] = [freshTenant(), freshTenant()];
      const rows = [rowOf({ tenant }), rowOf({ tenant }), rowOf({ tenant: elsewhere })] as const;
      for (const row of rows) await directory.insert(row);
      const call = (toolServer: string, since: number) => ({ toolServer, toolCallId: `call_${since}`, since });
      const project = ({ tenant: of, thread }: ThreadRow, position: number, calls?: ReturnType<typeof call>[]) =>
        directory.project([
          {
            ...{ tenant: of, thread, status: 'waiting', title: null, updatedAt: 1, position },
            waits: { oldest: { tool_call: 1 }, subscriptions: 0, ...(calls === undefined ? {} : { calls }) },
          },
        ]);
      expect(await directory.oldestCall(tenant, 'mail')).toBeNull();
      await project(rows[0], 9, [call('mail', 30), call('maps', 1)]);
      await project(rows[1], 9, [call('mail', 20)]);
      await project(rows[2], 9, [call('mail', 5), call('mai', 4)]);
      expect(await directory.oldestCall(tenant, 'mail')).toEqual(call('mail', 20));
      expect(await directory.oldestCall(tenant, 'maps')).toEqual(call('maps', 1));
      expect(await directory.oldestCall(tenant, 'mai')).toBeNull();
      expect(await directory.oldestCall(elsewhere, 'mail')).toEqual(call('mail', 5));
      const { calls } = await directory.census(); // of all tenants, those of other specs among them
      const oldest = (toolServer: string) => calls.filter((each) => each.toolServer === toolServer);
      expect([oldest('mail'), oldest('maps'), oldest('mai')]).toEqual([
        [{ toolServer: 'mail', since: 5 }],
        [{ toolServer: 'maps', since: 1 }],
        [{ toolServer: 'mai', since: 4 }],
      ]);

      await project(rows[1], 8, [call('mail', 2)]); // an older position
      await project(rows[0], 10, [call('mail', 30)]);
      expect(await directory.oldestCall(tenant, 'mail')).toEqual(call('mail', 20));
      expect(await directory.oldestCall(tenant, 'maps')).toBeNull();
      await project(rows[1], 10);
      expect(await directory.oldestCall(tenant, 'mail')).toEqual(call('mail', 30));
      const { thread } = rows[0];
      const parked = { tenant, thread, status: 'parked', title: null, updatedAt: 2, position: 10 } as const;
      await directory.project([parked]); // keeps its waits
      expect(await directory.oldestCall(tenant, 'mail')).toEqual(call('mail', 30));
      await project(rows[0], 11);
      expect(await directory.oldestCall(tenant, 'mail')).toBeNull();
    });

    it('rows outlive the process', async (context) => {
      const row = rowOf({ metadata: { a: 'b' } });
      await (await opened.get()).insert(row);
      const again = await opened.reopened();
      if (!again) return context.skip('this directory does not outlive its process');
      expect(await again.get(row)).toEqual(row);
    });
  });
}

const shownStatus = ({ status, thread }: ThreadRow, { waitingBelow = [] }: ThreadFilter): ThreadRow['status'] =>
  status === 'idle' && waitingBelow.includes(thread) ? 'waiting' : status;

function passes(row: ThreadRow, filter: ThreadFilter): boolean {
  const same = <T>(wanted: T | undefined, has: T | null): boolean => wanted === undefined || wanted === has;
  return (
    same(filter.status, shownStatus(row, filter)) &&
    same(filter.agent, row.agent) &&
    (filter.agents === undefined || filter.agents.includes(row.agent)) &&
    same(filter.parent, row.parent) &&
    same(filter.userId, row.userId) &&
    same(filter.externalId, row.externalId) &&
    (filter.createdAfter === undefined || row.createdAt > filter.createdAfter) &&
    (filter.updatedAfter === undefined || row.updatedAt > filter.updatedAfter) &&
    Object.entries(filter.metadata ?? {}).every(([key, value]) => row.metadata[key] === value)
  );
}
