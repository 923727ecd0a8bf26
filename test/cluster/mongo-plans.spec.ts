// Every query on a collection that grows for ever uses an index: proved by the server's own plans, over collections
// that are large enough for it to have a choice.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import { tenantId, type ActivityRow, type Commit, type ThreadRow } from '@dormouse/ports';
import { mongo } from 'mongoose';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { withServices } from '../services/needed-services.ts';

const acme = tenantId('acme');

const threads = 500;
const commitsEach = 4;
const firstPage = { limit: 10, cursor: null };
const keyOf = (nth: number) => ({ tenant: acme, thread: `thr_${nth}` });

const commit = (nth: number, version: number): Commit => ({
  ...{ v: 1, ...keyOf(nth), version, count: 1, inputs: [`input_${version}`], at: 1, nonce: `${nth}.${version}` },
  ...{ trace: null, kid: null, prev: '', hash: '', body: '{}' },
});

const activityOf = (nth: number): ActivityRow => ({
  ...{ tenant: acme, toolServerId: `tsv_${nth}`, reporter: 'one', from: Date.now(), breaker: null, writtenAt: 1 },
  counts: { acks: {}, callbacks: {}, errors: {} },
});

const row = (nth: number): ThreadRow => ({
  ...{ ...keyOf(nth), status: 'idle', agent: `agent_${nth}`, agentVersion: 1, parent: `parent_${nth}` },
  ...{ family: `thr_${nth}`, userId: `user_${nth}`, externalId: `ticket-${nth}`, title: null, metadata: {} },
  ...{ createdAt: nth, updatedAt: nth, position: 1, opening: null },
});

withServices(['mongo'], ({ mongo: url }) => {
  let stores: MongoStores;
  beforeAll(async () => {
    stores = await openMongo({ url, database: `test_${randomBytes(6).toString('hex')}`, indexes: 'make' });
    for (let version = 0; version < commitsEach; version++)
      await stores.log.append(
        Array.from({ length: threads }, (_, nth) => ({ commit: commit(nth, version), owes: false })),
      );
    for (let nth = 0; nth < threads; nth++) await stores.directory.insert(row(nth));
    const due = Array.from({ length: threads }, (_, nth) => ({ ...keyOf(nth), timerId: `t_${nth}`, due: nth }));
    await stores.timers.set(due);
    const activity = Array.from({ length: threads }, (_, nth) => activityOf(nth));
    await stores.toolActivity.put(activity, []);
    await stores.callbackCounts.put(
      Array.from({ length: threads }, (_, nth) => ({
        ...{ ...keyOf(nth), toolCallId: `call_${nth}`, reporter: 'one', duplicates: 1, refused: 0 },
      })),
    );
  });
  afterAll(() => stores.close());

  it.each<[string, string, () => Promise<unknown>]>([
    [
      'decided_in_shard',
      'the commits that decided some inputs',
      () => stores.log.findByInputs(keyOf(7), ['input_2', 'no']),
    ],
    ['_id_', 'the head of a thread', () => stores.log.head(keyOf(7))],
    ['_id_', 'the commits of a thread', () => stores.log.read(keyOf(7), 1)],
    ['_id_', 'the commit of a position', () => stores.log.at(keyOf(7), 2)],
    ['external_id_once', 'who has an external id', () => stores.directory.insert({ ...row(7), thread: 'thr_new' })],
    ['by_agent', 'the threads of an agent', () => stores.directory.list(acme, { agent: 'agent_7' }, firstPage)],
    ['by_parent', 'the children of a thread', () => stores.directory.list(acme, { parent: 'parent_7' }, firstPage)],
    ['by_user', 'the threads of a user', () => stores.directory.list(acme, { userId: 'user_7' }, firstPage)],
    ['newest', 'the newest threads', () => stores.directory.list(acme, {}, firstPage)],
    [
      'newest_updated',
      'the threads that have changed',
      () => stores.directory.list(acme, { updatedAfter: 490 }, firstPage),
    ],
    ['openings', 'openings that are stuck', () => stores.directory.stuckOpenings(5, 10)],
    ['since_approval', 'since when a thread waits', () => stores.directory.census()],
    ['subscribed', 'the subscriptions of all threads', () => stores.directory.census()],
    ['by_due', 'timers that are due', () => stores.timers.due(5, 10)],
    ['by_call', 'the callbacks of a call', () => stores.callbackCounts.read(keyOf(7), ['call_7'])],
    ['by_tool_server', 'the activity of a tool server', () => stores.toolActivity.read(acme, 'tsv_7', 0)],
  ])('%s answers %s', async (index, _what, ask) => {
    expect(await indexesUsedBy(ask)).toContain(index);
  });
});

/** Runs it, and asks the server for the plan of each `find` in it. */
async function indexesUsedBy(ask: () => Promise<unknown>): Promise<readonly string[]> {
  const find = vi.spyOn(mongo.Collection.prototype, 'find');
  try {
    await ask();
    const cursors = find.mock.results.map(({ value }) => value as mongo.FindCursor);
    const plans = await Promise.all(cursors.map((cursor) => cursor.clone().explain()));
    expect(plans.length).toBeGreaterThan(0);
    return plans.flatMap((plan) => indexesIn(plan));
  } finally {
    find.mockRestore();
  }
}

/** Names in the chosen plan: MongoDB has it under `winningPlan`, FerretDB under `IndexDetails` of the plan. */
function indexesIn(explained: unknown, isPlan = false): readonly string[] {
  if (typeof explained !== 'object' || explained === null) return [];
  if (Array.isArray(explained)) return explained.flatMap((each) => indexesIn(each, isPlan));
  const own = isPlan && 'indexName' in explained ? [String(explained.indexName)] : [];
  const inside = Object.entries(explained).flatMap(([name, value]) =>
    name === 'rejectedPlans' ? [] : indexesIn(value, isPlan || name === 'winningPlan' || name === 'IndexDetails'),
  );
  return [...own, ...inside];
}
