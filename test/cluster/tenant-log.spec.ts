// The commits of a tenant on a real server, when writers are late, lost or of an older version.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import { tenantId, type TenantId, type Commit } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import type Mongoose from 'mongoose';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterEach, expect, it } from 'vitest';
import { withServices } from '../services/needed-services.ts';

const acme = tenantId('acme');

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

interface Stored {
  readonly _id: string;
  readonly tenant: string;
  readonly decided: readonly string[];
}

withServices(['mongo'], ({ mongo: url }) => {
  const opened: MongoStores[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stores) => stores.close()));
  });

  const freshDatabase = (): string => `test_${randomBytes(6).toString('hex')}`;

  async function open(database: string, indexes: 'make' | 'check' = 'make'): Promise<MongoStores> {
    const stores = await openMongo({ url, database, indexes });
    opened.push(stores);
    return stores;
  }

  /** What no writer of ours does. */
  async function withCommits<Answer>(
    database: string,
    change: (commits: Mongoose.mongo.Collection<Stored>, all: Mongoose.mongo.Db) => Promise<Answer>,
  ): Promise<Answer> {
    const connection = await mongoose.createConnection(url).asPromise();
    const all = connection.getClient().db(database);
    try {
      return await change(all.collection<Stored>('commits'), all);
    } finally {
      await connection.close();
    }
  }

  const append = async ({ log }: MongoStores, ...commits: readonly Commit[]): Promise<void> => {
    const outcomes = await log.append(commits.map((commit) => ({ commit, owes: false })));
    expect(outcomes).toEqual(commits.map(() => 'appended'));
  };

  const read = async ({ tenantLog }: MongoStores, tenant: TenantId, place: string | null = null) =>
    (await tenantLog.after(tenant, place, 50)).map(({ commit }) => commit.thread);

  /** Stores the commit of a writer that has taken this place. */
  const storeAt = (database: string, tenant: string, thread: string, place: number): Promise<unknown> =>
    withCommits(database, async (commits) => {
      const { _id: _, decided: __, ...like } = (await commits.findOne({ tenant })) ?? {};
      const decided = [JSON.stringify([tenant, thread, `c:${place}`]), JSON.stringify([tenant, 0, place])];
      return commits.insertOne({ ...like, _id: `${tenant}:${thread}:0000000000000000`, thread, decided } as never);
    });

  it('T1: waits for a commit that comes late, and gives what was stored after it afterwards', async () => {
    const database = freshDatabase();
    const stores = await open(database);
    const [first, late, early] = [freshKey(), freshKey(), freshKey()];
    await append(stores, commitOf(first, 0));
    await storeAt(database, 'acme', early.thread, 3);
    expect(await read(stores, acme)).toEqual([first.thread]);
    await storeAt(database, 'acme', late.thread, 2);
    expect((await read(stores, acme)).toSorted()).toEqual([first, late, early].map(({ thread }) => thread).toSorted());
  });

  it('T2, P3: a place that stays empty is filled; the commit that it was meant for is stored after all others', async () => {
    const database = freshDatabase();
    const [paused, reader] = [await open(database), await open(database)];
    const [first, early, late] = [freshKey(), freshKey(), freshKey()];
    await append(paused, commitOf(first, 0)); // its next place is 2
    await storeAt(database, 'acme', early.thread, 3);
    expect(await read(reader, acme)).toEqual([first.thread]);
    await expect.poll(() => read(reader, acme)).toEqual([first.thread, early.thread]);
    const [, last] = await reader.tenantLog.after(acme, null, 50);
    await append(paused, commitOf(late, 0));
    expect(await read(reader, acme, last?.place)).toEqual([late.thread]);
    expect(await paused.log.head(late)).toMatchObject({ thread: late.thread, version: 0 });
  });

  it('T3: fills what is empty before it says where the end is: nothing is stored below it afterwards', async () => {
    const database = freshDatabase();
    const [paused, reader] = [await open(database), await open(database)];
    await append(paused, commitOf(freshKey(), 0));
    await storeAt(database, 'acme', freshKey().thread, 6);
    const end = await reader.tenantLog.end(acme);
    expect(await read(reader, acme, end)).toEqual([]);
    const late = [freshKey(), freshKey()];
    await append(paused, ...late.map((key) => commitOf(key, 0)));
    expect((await read(reader, acme, end)).toSorted()).toEqual(late.map(({ thread }) => thread).toSorted());
  });

  it('P2: two processes that write to one partition in turn keep the order of a thread', async () => {
    const database = freshDatabase();
    const writers = [await open(database), await open(database)];
    const key = freshKey();
    for (let version = 0; version < 12; version += 1) {
      const writer = writers[version % 2]!;
      await append(writer, commitOf(freshKey(), 0));
      expect((await writer.log.read(key, 0)).length).toBe(version);
      await append(writer, commitOf(key, version));
    }
    const found = await writers[0]!.tenantLog.after(acme, null, 50);
    expect(found.filter(({ commit }) => commit.thread === key.thread).map(({ commit }) => commit.version)).toEqual(
      Array.from({ length: 12 }, (_, version) => version),
    );
  });

  it('O1, O2: commits of an older version get places before anything starts, each thread in its order', async () => {
    const database = freshDatabase();
    const older = await open(database);
    const keys = [freshKey(), freshKey(), freshKey(tenantId('zenith'))];
    for (const version of [0, 1, 2]) await append(older, ...keys.map((key) => commitOf(key, version)));
    await append(older, commitOf(keys[0]!, 3, { inputs: [] }));
    await withCommits(database, async (commits, all) => {
      await commits.dropIndex('decided_in_shard');
      for (const { _id, decided } of await commits.find().toArray()) {
        const inputs = decided.filter((name) => !/,\d+,\d+\]$/.test(name));
        const named = inputs.length > 0;
        const change = {
          $unset: { shard: '', ...(named ? {} : { decided: '' }) },
          ...(named && { $set: { decided: inputs } }),
        };
        await commits.updateOne({ _id }, change as never);
      }
      await commits.createIndex({ decided: 1 }, { name: 'decided_once', unique: true, sparse: true });
      for (const name of ['migrations', 'sharding']) await all.dropCollection(name);
    });
    await expect(open(database, 'check')).rejects.toMatchObject({ message: expect.stringContaining('npm run setup') });
    await open(database);
    const stores = await open(database, 'check');
    const found = await stores.tenantLog.after(acme, null, 50);
    for (const key of keys.slice(0, 2)) {
      const own = found.filter(({ commit }) => commit.thread === key.thread).map(({ commit }) => commit);
      expect(own).toEqual(await stores.log.read(key, 0));
    }
    expect(found).toHaveLength(7);
    expect(await read(stores, tenantId('zenith'))).toHaveLength(3);
    await append(stores, commitOf(keys[1]!, 3));
    expect(await read(stores, acme, found.at(-1)?.place)).toEqual([keys[1]!.thread]);
  });
});
