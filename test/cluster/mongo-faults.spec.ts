// The MongoDB adapter under faults: connections cut in the middle of a write, a missing index.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import type { AppendAnswer, Commit, ThreadLog } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import type Mongoose from 'mongoose';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../chaos/fault-proxy.ts';
import { withServices } from '../services/needed-services.ts';

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const appendOne = async (log: ThreadLog, commit: Commit): Promise<AppendAnswer> =>
  (await log.append([{ commit, owes: false }]))[0] ?? 'unknown';

withServices(['mongo'], ({ mongo }) => {
  const freshDatabase = (): string => `faults_${randomBytes(6).toString('hex')}`;

  async function withCollection(
    database: string,
    name: string,
    change: (collection: Mongoose.mongo.Collection) => Promise<unknown>,
  ): Promise<void> {
    const connection = await mongoose.createConnection(mongo).asPromise();
    await change(connection.getClient().db(database).collection(name));
    await connection.close();
  }
  const withCommits = (database: string, change: (commits: Mongoose.mongo.Collection) => Promise<unknown>) =>
    withCollection(database, 'commits', change);

  describe('a connection that is cut in the middle of an insert', () => {
    let proxy: FaultProxy;
    /** Behind the proxy, and beside it. */
    let through: MongoStores;
    let beside: MongoStores;
    beforeEach(async () => {
      const url = new URL(mongo);
      proxy = await startFaultProxy([Number(url.port)]);
      url.host = `127.0.0.1:${proxy.port}`;
      const database = freshDatabase();
      beside = await openMongo({ url: mongo, database, indexes: 'make' });
      through = await openMongo({ url: url.href, database, indexes: 'check' });
      await appendOne(through.log, commitOf(freshKey(), 0)); // it knows its places
    });
    afterEach(async () => {
      proxy.held = 'nothing';
      await Promise.all([through.close(), beside.close()]);
      await proxy.close();
    });

    it('after the server had it, before its answer: unknown, and read back it is ours', async () => {
      const commit = commitOf(freshKey(), 0);
      proxy.held = 'to client';
      const outcome = appendOne(through.log, commit);
      await expect.poll(() => beside.log.head(commit)).toEqual(commit);
      proxy.cut();
      proxy.held = 'nothing';
      expect(await outcome).toBe('unknown');
      expect(await through.log.findByInputs(commit, commit.inputs)).toEqual([commit]);
      expect(await appendOne(through.log, commit)).toBe('appended');
      expect(await beside.log.read(commit, 0)).toEqual([commit]);
      expect(through.counters().unknownOutcomes).toBe(1);
    });

    it('before the server had it: unknown, and nothing is there until it is sent again', async () => {
      const commit = commitOf(freshKey(), 0);
      proxy.held = 'to server';
      const outcome = appendOne(through.log, commit);
      await pause(100);
      proxy.cut();
      proxy.held = 'nothing';
      expect(await outcome).toBe('unknown');
      expect(await through.log.findByInputs(commit, commit.inputs)).toEqual([null]);
      expect(await appendOne(through.log, commit)).toBe('appended');
      expect(await beside.log.read(commit, 0)).toEqual([commit]);
    });

    it('half of whose bytes had left: unknown, and stored whole or not at all', async () => {
      const commit = commitOf(freshKey(), 0, { body: JSON.stringify({ text: 'x'.repeat(4_000_000) }) });
      proxy.latencyMs = 5; // for each piece of at most 64 KiB
      const outcome = appendOne(through.log, commit);
      await pause(150);
      proxy.cut();
      proxy.latencyMs = 0;
      expect(await outcome).toBe('unknown');
      expect(await beside.log.head(commit)).toBeNull();
      expect(await appendOne(through.log, commit)).toBe('appended');
      expect(await beside.log.head(commit)).toEqual(commit);
    });

    it('while another wins the version: unknown, and a conflict when it is sent again', async () => {
      const key = freshKey();
      const [ours, theirs] = [commitOf(key, 0), commitOf(key, 0)];
      proxy.held = 'to server';
      const outcome = appendOne(through.log, ours);
      await pause(100);
      expect(await appendOne(beside.log, theirs)).toBe('appended');
      proxy.cut();
      proxy.held = 'nothing';
      expect(await outcome).toBe('unknown');
      expect(await appendOne(through.log, ours)).toBe('conflict');
      expect(await through.log.read(key, 0)).toEqual([theirs]);
    });

    it('again and again: each commit is in its thread once, in order, after being sent until it is known', async () => {
      const chains = Array.from({ length: 16 }, () => {
        const key = freshKey();
        return Array.from({ length: 60 }, (_, version) => commitOf(key, version));
      });
      const written = Promise.all(
        chains.map(async (chain) => {
          for (const commit of chain) await untilAppended(through.log, commit);
        }),
      );
      for (let cuts = 0; cuts < 20; cuts += 1) {
        await pause(30 + Math.random() * 100);
        proxy.cut();
      }
      await written;
      for (const chain of chains) expect(await beside.log.read(chain[0] as Commit, 0)).toEqual(chain);
      expect(through.counters().unknownOutcomes).toBeGreaterThan(0);
    });
  });

  describe('a commit that no document can hold', () => {
    const documentBytesMax = 16_777_216;
    const around = 1_000;
    let stores: MongoStores;
    beforeEach(async () => {
      stores = await openMongo({ url: mongo, database: freshDatabase(), indexes: 'make' });
    });
    afterEach(() => stores.close());

    it.each([
      ['by its characters', 'x'.repeat(documentBytesMax)],
      ['by its bytes', '€'.repeat(documentBytesMax / 3)],
    ])('%s: is refused for good, and harms nobody in its group', async (_, body) => {
      const [before, huge, after] = [
        commitOf(freshKey(), 0),
        commitOf(freshKey(), 0, { body }),
        commitOf(freshKey(), 0),
      ];
      const group = [before, huge, after].map((commit) => ({ commit, owes: false }));
      expect(await stores.log.append(group)).toEqual(['appended', 'too_large', 'appended']);
      expect(await stores.log.head(huge)).toBeNull();
      expect(await stores.log.head(after)).toEqual(after);
      expect(stores.counters().unknownOutcomes).toBe(0);
    });

    it('is not one that just fits', async () => {
      const commit = commitOf(freshKey(), 0, { body: 'x'.repeat(documentBytesMax - around) });
      expect(await appendOne(stores.log, commit)).toBe('appended');
      expect((await stores.log.head(commit))?.body.length).toBe(commit.body.length);
    });
  });

  describe('an index', () => {
    it('that is missing is refused at the start, with the command that makes it', async () => {
      const database = freshDatabase();
      const stores = await openMongo({ url: mongo, database, indexes: 'make' });
      await stores.close();
      await withCommits(database, (commits) => commits.dropIndex('decided_in_shard'));
      await expect(openMongo({ url: mongo, database, indexes: 'check' })).rejects.toMatchObject({
        code: 'INDEX_MISSING',
        message: 'These indexes are missing: commits.decided_in_shard. Make them with: npm run setup',
      });
      await (await openMongo({ url: mongo, database, indexes: 'make' })).close();
      await (await openMongo({ url: mongo, database, indexes: 'check' })).close();
    });

    it.each<[string, string, string, Mongoose.mongo.IndexSpecification, Mongoose.mongo.CreateIndexesOptions]>([
      ['that is not unique', 'commits', 'decided_in_shard', { shard: 1, decided: 1 }, {}],
      ['that is sparse', 'commits', 'decided_in_shard', { shard: 1, decided: 1 }, { unique: true, sparse: true }],
      ['of other fields', 'timers', 'by_due', { partition: 1 }, {}],
      ['of another order', 'agents', 'by_name', { tenant: 1, name: 1, version: 1 }, {}],
      ['that expires later', 'sealed', 'expiry', { expiry: 1 }, { expireAfterSeconds: 60 }],
      ['of all documents', 'threads', 'external_id_once', { tenant: 1, externalId: 1 }, { unique: true }],
    ])('%s is refused, and not replaced: %s.%s', async (_, collection, name, key, options) => {
      const database = freshDatabase();
      await (await openMongo({ url: mongo, database, indexes: 'make' })).close();
      await withCollection(database, collection, async (indexed) => {
        await indexed.dropIndex(name);
        await indexed.createIndex(key, { ...options, name });
      });
      for (const indexes of ['check', 'make'] as const)
        await expect(openMongo({ url: mongo, database, indexes })).rejects.toMatchObject({
          code: 'INDEX_MISSING',
          message: `These indexes are not what they must be: ${collection}.${name}. Drop them, and make them anew with: npm run setup`,
        });
    });

    it('that no schema declares is left alone', async () => {
      const database = freshDatabase();
      await (await openMongo({ url: mongo, database, indexes: 'make' })).close();
      await withCommits(database, (commits) => commits.createIndex({ at: 1 }, { name: 'of_an_operator' }));
      for (const indexes of ['check', 'make'] as const)
        await (await openMongo({ url: mongo, database, indexes })).close();
      await withCommits(database, async (commits) =>
        expect((await commits.indexes()).map(({ name }) => name)).toEqual([
          '_id_',
          'decided_in_shard',
          'of_an_operator',
        ]),
      );
    });

    it('whose options the server does not return is compared by name and key', async () => {
      const database = freshDatabase();
      const spy = vi.spyOn(mongoose.Model, 'listIndexes').mockImplementation(async function (
        this: Mongoose.Model<unknown>,
      ) {
        const indexes = await this.collection.listIndexes().toArray();
        return indexes.map(({ key, name }) => ({ key, name }));
      });
      onTestFinished(() => spy.mockRestore());
      for (const indexes of ['make', 'check', 'make'] as const)
        await (await openMongo({ url: mongo, database, indexes })).close();
      await withCommits(database, async (commits) => {
        await commits.dropIndex('decided_in_shard');
        await commits.createIndex({ inputs: 1 }, { name: 'decided_in_shard' });
      });
      await expect(openMongo({ url: mongo, database, indexes: 'check' })).rejects.toMatchObject({
        message: expect.stringContaining('not what they must be: commits.decided_in_shard.'),
      });
      expect(spy).toHaveBeenCalled();
    });

    it('of an older version is replaced, and what it knew is not decided again', async () => {
      const database = freshDatabase();
      const older = await openMongo({ url: mongo, database, indexes: 'make' });
      const decided = commitOf(freshKey(), 0, { inputs: ['c:1', 'c:2'] });
      const many = Array.from({ length: 1_100 }, (_, nth) => commitOf(freshKey(), 0, { inputs: [`c:${nth}`] }));
      const group = [decided, ...many].map((commit) => ({ commit, owes: false }));
      expect(new Set(await older.log.append(group))).toEqual(new Set(['appended']));
      expect(await appendOne(older.log, commitOf(freshKey(), 0, { inputs: [] }))).toBe('appended');
      await older.close();
      await withCommits(database, async (commits) => {
        await commits.dropIndex('decided_in_shard');
        await commits.updateMany({}, { $unset: { decided: '', shard: '' } });
        await commits.createIndex(
          { tenant: 1, thread: 1, inputs: 1 },
          { name: 'input_once', unique: true, partialFilterExpression: { 'inputs.0': { $exists: true } } },
        );
      });
      await expect(openMongo({ url: mongo, database, indexes: 'check' })).rejects.toMatchObject({
        message: expect.stringContaining('commits.decided_in_shard'),
      });
      const stores = await openMongo({ url: mongo, database, indexes: 'make' });
      expect(await stores.log.findByInputs(decided, ['c:2', 'c:3'])).toEqual([decided, null]);
      for (const commit of many) expect(await stores.log.findByInputs(commit, commit.inputs)).toEqual([commit]);
      expect(await appendOne(stores.log, commitOf(decided, 1, { inputs: ['c:2'] }))).toBe('duplicate');
      await stores.close();
      await withCommits(database, async (commits) =>
        expect((await commits.indexes()).map(({ name }) => name)).toEqual(['_id_', 'decided_in_shard']),
      );
      await (await openMongo({ url: mongo, database, indexes: 'make' })).close();
    });

    it('of an older version that is still there keeps everything from starting, until setup has ended', async () => {
      const database = freshDatabase();
      await (await openMongo({ url: mongo, database, indexes: 'make' })).close();
      await withCommits(database, (commits) =>
        commits.createIndex({ tenant: 1, thread: 1, inputs: 1 }, { name: 'input_once', unique: true }),
      );
      await expect(openMongo({ url: mongo, database, indexes: 'check' })).rejects.toMatchObject({
        code: 'INDEX_MISSING',
        message: expect.stringContaining('commits.input_once of an older version'),
      });
      const both = await Promise.all(['one', 'other'].map(() => openMongo({ url: mongo, database, indexes: 'make' })));
      for (const stores of both) await stores.close();
      await (await openMongo({ url: mongo, database, indexes: 'check' })).close();
    });

    it('is not made in a database that is not to be changed', async () => {
      const database = freshDatabase();
      const look = () => Promise.reject(new Error('it is theirs'));
      await expect(openMongo({ url: mongo, database, indexes: 'make', look })).rejects.toThrow('it is theirs');
      await expect(openMongo({ url: mongo, database, indexes: 'check' })).rejects.toMatchObject({
        code: 'INDEX_MISSING',
      });
    });

    it('is never made by a process that only runs: an empty database is refused', async () => {
      const refused = openMongo({ url: mongo, database: freshDatabase(), indexes: 'check' });
      await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('npm run setup') });
    });
  });
});

/** As the processor does it: an unknown outcome is read back, a failed read is retried after a pause. */
async function untilAppended(log: ThreadLog, commit: Commit): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      const [there] = await log.read(commit, commit.version, 1);
      if (there?.nonce === commit.nonce) return;
      if (there !== undefined) throw new Error(`version ${commit.version} is somebody else's`);
      if ((await appendOne(log, commit)) === 'appended') return;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'UNAVAILABLE') throw error;
      await pause(20);
    }
  }
  throw new Error(`version ${commit.version} could not be appended`);
}
