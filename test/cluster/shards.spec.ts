// The shards of the log on a real server: fixed by the first setup, given to the commits of the code before, and told
// to a sharded MongoDB by `setup --shard`.
import { type MongoStores, openMongo } from '@dormouse/adapter-mongo';
import { type Commit, createPartitioner, tenantId } from '@dormouse/ports';
import { commitOf, freshKey } from '@dormouse/ports/contracts';
import { Kafka, logLevel } from 'kafkajs';
import type Mongoose from 'mongoose';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { patienceMs } from '../patience.ts';
import { withServices } from '../services/needed-services.ts';

const acme = tenantId('acme');

// The driver that the adapter uses.
const mongoose = createRequire(new URL('../../libs/adapters/mongo/package.json', import.meta.url))(
  'mongoose',
) as typeof Mongoose;
const main = fileURLToPath(new URL('../../apps/ingress-gateway/dist/main.js', import.meta.url));

interface Stored {
  readonly _id: string;
  readonly thread: string;
  readonly version: number;
  readonly count: number;
  readonly decided: readonly string[];
  readonly shard?: number;
}

/** Written by the code of commit e8b43059, with 4 partitions and then with 6; a reader had read up to `place`. */
interface Before {
  readonly commits: readonly Stored[];
  readonly read: readonly string[];
  readonly place: string;
}
const before = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures', 'commits-of-e8b43059.json'), 'utf8'),
) as Before;
/** A command that is waited for lets no heartbeat through. */
const longSessionMs = 300_000;
const isCommit = ({ count }: Stored): boolean => count > 0;
const commitsBefore = before.commits.filter(isCommit);

const partitionsOf = (count: number) => ({ count, of: createPartitioner(count), owned: () => new Set<number>() });

withServices(['kafka', 'mongo', 'redis'], (urls) => {
  const url = urls.mongo;
  const opened: MongoStores[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stores) => stores.close()));
  });
  const freshDatabase = (): string => `test_${randomBytes(6).toString('hex')}`;

  async function open(database: string, partitions: number, indexes: 'make' | 'check' = 'make'): Promise<MongoStores> {
    const stores = await openMongo({ url, database, indexes, partitions: partitionsOf(partitions) });
    opened.push(stores);
    return stores;
  }

  /** As the command does it: what is UNAVAILABLE is tried again. Of two that build an index, PostgreSQL may end one. */
  async function setUp(database: string, partitions: number): Promise<void> {
    for (let tries = 1; ; tries += 1)
      try {
        return void (await open(database, partitions));
      } catch (error) {
        if ((error as { readonly code?: string }).code !== 'UNAVAILABLE' || tries === 20) throw error;
      }
  }

  async function within<Answer>(database: string, work: (db: Mongoose.mongo.Db) => Promise<Answer>): Promise<Answer> {
    const connection = await mongoose.createConnection(url).asPromise();
    try {
      return await work(connection.getClient().db(database));
    } finally {
      await connection.close();
    }
  }

  const commitsIn = (database: string): Promise<readonly Stored[]> =>
    within(database, (db) => db.collection<Stored>('commits').find().sort({ _id: 1 }).toArray());

  /** A database as the code before left it. */
  async function databaseOfBefore(): Promise<string> {
    const database = freshDatabase();
    await within(database, async (db) => {
      await db.collection<Stored>('commits').insertMany(before.commits as never);
      const once = { name: 'decided_once', unique: true, sparse: true } as const;
      await db.collection('commits').createIndex({ decided: 1 }, once);
      await db.collection<{ readonly _id: string }>('migrations').insertOne({ _id: 'commits_have_places' });
    });
    return database;
  }

  const named = ({ thread, version }: Pick<Commit, 'thread' | 'version'>): string => `${thread}:${version}`;

  async function readAll({ tenantLog }: MongoStores, from: string | null): Promise<readonly string[]> {
    const all: string[] = [];
    for (let place = from; ;) {
      const page = await tenantLog.after(acme, place, 7);
      const last = page.at(-1);
      if (last === undefined) return all;
      all.push(...page.map(({ commit }) => named(commit)));
      place = last.place;
    }
  }

  describe('a database of the code before', () => {
    it('is refused by a process that only runs, with the command', async () => {
      const database = await databaseOfBefore();
      await expect(open(database, 6, 'check')).rejects.toMatchObject({
        code: 'INDEX_MISSING',
        message: expect.stringContaining('npm run setup'),
      });
      expect(await commitsIn(database)).toEqual(
        before.commits.toSorted((one, other) => (one._id < other._id ? -1 : 1)),
      );
    });

    it('H1, O1: every commit and void gets the shard of its thread or place, and keeps everything else', async () => {
      const database = await databaseOfBefore();
      await open(database, 6);
      const shardOf = createPartitioner(6);
      const after = await commitsIn(database);
      for (const document of before.commits) {
        const { shard, ...same } = after.find(({ _id }) => _id === document._id) ?? { shard: -1 };
        expect(same).toEqual(document);
        const place = JSON.parse(document.decided.at(-1) ?? '[]') as readonly [string, number, number];
        expect(shard).toBe(isCommit(document) ? shardOf({ tenant: acme, thread: document.thread }) : place[1]);
      }
      const indexes = await within(database, (db) => db.collection('commits').indexes());
      expect(indexes.map(({ name }) => name)).toEqual(['_id_', 'decided_in_shard']);
    });

    it('P4: a reader of all threads gets each commit once, and goes on where it was', async () => {
      const database = await databaseOfBefore();
      const stores = await open(database, 6);
      const all = commitsBefore.map(named);
      const forwarded = (await commitsIn(database)).filter(({ count, thread }) => count === 0 && thread !== '');
      expect(forwarded.length).toBeGreaterThan(0); // else nothing is proved here
      expect((await readAll(stores, null)).toSorted()).toEqual(all.toSorted());
      const unread = all.filter((name) => !before.read.includes(name));
      expect(unread.length).toBeGreaterThan(0);
      expect((await readAll(stores, before.place)).toSorted()).toEqual(unread.toSorted());
    });

    it('keeps its threads, decides nothing twice, and takes new commits behind all others', async () => {
      const database = await databaseOfBefore();
      const stores = await open(database, 6);
      const end = await stores.tenantLog.end(acme);
      const threads = [...Map.groupBy(commitsBefore, ({ thread }) => thread)];
      const added: string[] = [];
      for (const [thread, commits] of threads) {
        const key = { tenant: acme, thread };
        const found = await stores.log.read(key, 0);
        expect(found.map(named)).toEqual(commits.map(named).toSorted());
        const [first, head] = [found[0]!, found.at(-1)!];
        expect(await stores.log.findByInputs(key, first.inputs)).toEqual(first.inputs.map(() => first));
        const next = commitOf(key, head.version + head.count);
        const again = { ...next, inputs: first.inputs };
        expect(await stores.log.append([{ commit: again, owes: false }])).toEqual(['duplicate']);
        expect(await stores.log.append([{ commit: next, owes: false }])).toEqual(['appended']);
        added.push(named(next));
      }
      expect((await readAll(stores, end)).toSorted()).toEqual(added.toSorted());
    });

    it('O1: a setup that was cut off is finished by the next one; several at once are one', async () => {
      const database = await databaseOfBefore();
      const half = commitsBefore.slice(0, Math.floor(commitsBefore.length / 2)).map(({ _id }) => _id);
      await within(database, async (db) => {
        await db.collection<{ readonly _id: string }>('sharding').insertOne({ _id: 'commits', shards: 6 } as never);
        const shardOf = createPartitioner(6);
        for (const { _id, thread } of commitsBefore.filter((each) => half.includes(each._id)))
          await db
            .collection<Stored>('commits')
            .updateOne({ _id }, { $set: { shard: shardOf({ tenant: acme, thread }) } });
      });
      await expect(open(database, 6, 'check')).rejects.toMatchObject({ code: 'INDEX_MISSING' });
      await Promise.all([setUp(database, 6), setUp(database, 6)]);
      const once = await commitsIn(database);
      expect(once.every(({ shard }) => typeof shard === 'number')).toBe(true);
      const stores = await open(database, 6);
      expect(await commitsIn(database)).toEqual(once);
      expect((await readAll(stores, null)).toSorted()).toEqual(commitsBefore.map(named).toSorted());
    });

    it('O2: gets as many shards as its places need where there are fewer partitions now', async () => {
      const stores = await open(await databaseOfBefore(), 2);
      expect(stores.shards).toBe(6);
      expect((await readAll(stores, null)).toSorted()).toEqual(commitsBefore.map(named).toSorted());
    });
  });

  it('H1: the number of shards stays when the number of partitions does not; writers of both make one sequence', async () => {
    const database = freshDatabase();
    const [few, many] = [await open(database, 3), await open(database, 8)];
    expect([few.shards, many.shards]).toEqual([3, 3]);
    const keys = Array.from({ length: 6 }, () => freshKey());
    for (let version = 0; version < 6; version += 1)
      for (const [nth, key] of keys.entries()) {
        const writer = (version + nth) % 2 === 0 ? few : many;
        await writer.log.head(key);
        expect(await writer.log.append([{ commit: commitOf(key, version), owes: false }])).toEqual(['appended']);
      }
    const wanted = keys.flatMap((key) => Array.from({ length: 6 }, (_, version) => named({ ...key, version })));
    for (const reader of [few, many]) {
      const found = await readAll(reader, null);
      expect(found.toSorted()).toEqual(wanted.toSorted());
      for (const { thread } of keys)
        expect(found.filter((name) => name.startsWith(`${thread}:`))).toEqual(
          Array.from({ length: 6 }, (_, version) => `${thread}:${version}`),
        );
    }
    const shards = new Set((await commitsIn(database)).map(({ shard }) => shard));
    expect([...shards].every((shard) => shard !== undefined && shard < 3)).toBe(true);
  });

  it('an input of another shard with the same name, and a place of it, are others', async () => {
    const database = freshDatabase();
    const stores = await open(database, 4);
    const keys = Array.from({ length: 12 }, () => freshKey());
    const group = keys.map((key) => ({ commit: commitOf(key, 0, { inputs: ['c:same'] }), owes: false }));
    expect(new Set(await stores.log.append(group))).toEqual(new Set(['appended']));
    const places = (await commitsIn(database)).map(({ shard, decided }) => `${shard}: ${decided.at(-1)}`);
    expect(new Set(places).size).toBe(keys.length);
  });

  /** A command of a service, with the settings of an installation of its own. */
  function commands() {
    const [prefix, database] = [`shd${randomBytes(5).toString('hex')}.`, freshDatabase()];
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('DORMOUSE_')));
    const env = {
      ...inherited,
      DORMOUSE_KAFKA_BROKERS: urls.kafka,
      DORMOUSE_KAFKA_PREFIX: prefix,
      DORMOUSE_KAFKA_PARTITIONS: '5',
      DORMOUSE_MONGO_URL: Object.assign(new URL(url), { pathname: `/${database}` }).href,
      DORMOUSE_REDIS_URL: urls.redis,
      DORMOUSE_MASTER_KEY: 'a'.repeat(64),
    };
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: patienceMs, env });
    return { prefix, database, run };
  }

  it('`setup` leaves commits of before alone while a thread-processor runs, which may write more of them', async () => {
    const { prefix, database, run } = commands();
    expect(run('setup').status).toBe(0);
    await within(database, async (db) => {
      await db.collection<Stored>('commits').insertMany(before.commits as never);
      for (const name of ['sharding', 'migrations']) await db.dropCollection(name);
    });
    const consumer = new Kafka({ brokers: urls.kafka.split(','), logLevel: logLevel.NOTHING }).consumer({
      groupId: `${prefix}thread-processor`,
      sessionTimeout: longSessionMs,
    });
    await consumer.connect();
    const joined = new Promise<void>((resolve) => void consumer.on('consumer.group_join', () => resolve()));
    await consumer.subscribe({ topic: `${prefix}inputs` });
    await consumer.run({ eachMessage: async () => {} });
    await joined;
    const refused = run('setup');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('1 of thread-processor still run')]);
    expect((await commitsIn(database)).every(({ shard }) => shard === undefined)).toBe(true);
    await consumer.disconnect();
    expect(run('setup').status).toBe(0);
    expect((await commitsIn(database)).every(({ shard }) => typeof shard === 'number')).toBe(true);
  });

  it('`setup --shard` says what a sharded MongoDB has to be told, for a database that was set up, and changes nothing', async () => {
    const { database, run } = commands();
    const early = run('setup', '--shard');
    expect([early.status, early.stderr]).toEqual([1, expect.stringContaining('npm run setup')]);
    expect(await within(database, (db) => db.listCollections().toArray())).toEqual([]);
    expect(run('setup').status).toBe(0);
    const documents = () => within(database, (db) => db.collection('sharding').find().toArray());
    const known = await documents();
    const text = run('setup', '--shard');
    expect(text.status).toBe(0);
    expect(text.stdout).toContain(`sh.shardCollection("${database}.commits", {"shard":1});`);
    expect(text.stdout.match(/moveRange/g)).toHaveLength(5);
    const lines = run('setup', '--shard', '--json').stdout.trim().split('\n');
    const statements = lines.map((line) => JSON.parse(line) as { readonly run: string; readonly why: string });
    expect(statements.map((each) => `${each.run}; // ${each.why}`)).toEqual(text.stdout.trim().split('\n'));
    expect(await documents()).toEqual(known);
  });
});
