import mongoose from 'mongoose';
import { expect, it } from 'vitest';
import type { MongoServer } from './mongo-server.ts';
import { storesOver } from './open-mongo.ts';
import { shardingStatements, spreads } from './sharding.ts';
import { createInstallationRecord } from './stores/installation.ts';
import { placesModel } from './migrations/place-old-commits.ts';
import {
  copyCollections,
  otherThreadCollections,
  recordCollections,
  threadlessCollections,
} from './stores/removal/thread-collections.ts';
import { shardsModel, shardsOf } from './log/shards.ts';
import { onePartition } from './stores/timers.ts';

interface DeclaredIndex {
  readonly name: string;
  readonly fields: readonly string[];
  readonly isUnique: boolean;
  /** One of its fields is an array, or it leaves documents out. */
  readonly isPartial: boolean;
}

/** Without a server. */
function declared(): Readonly<Record<string, readonly DeclaredIndex[]>> {
  const server = { connection: mongoose.createConnection() } as unknown as MongoServer;
  storesOver(server, onePartition, shardsOf(1));
  createInstallationRecord(server);
  placesModel(server);
  shardsModel(server);
  return Object.fromEntries(
    Object.values(server.connection.models).map(({ schema, collection }) => [
      collection.name,
      schema.indexes().map(([key, { name, unique, sparse, partialFilterExpression }]) => ({
        name: String(name),
        fields: Object.keys(key),
        isUnique: unique === true,
        isPartial:
          sparse === true ||
          partialFilterExpression !== undefined ||
          Object.keys(key).some((field) => schema.path(field) instanceof mongoose.Schema.Types.Array),
      })),
    ]),
  );
}

/** Collection and index, where MongoDB would refuse to shard. (P2) */
const refusedOf = (
  table: Readonly<Record<string, { readonly key: Readonly<Record<string, unknown>> | null }>>,
): readonly string[] =>
  Object.entries(declared()).flatMap(([collection, indexes]) => {
    const key = table[collection]?.key ?? null;
    if (key === null) return [];
    const isHashed = Object.values(key).includes('hashed');
    const begins = (fields: readonly string[]) => Object.keys(key).every((field, at) => fields[at] === field);
    return indexes
      .filter(({ fields, isUnique }) => isUnique && (isHashed || !begins(fields)))
      .map(({ name }) => `${collection}.${name}`);
  });

it('P1: every collection says whether it is sharded, and there is no other', () => {
  expect(Object.keys(spreads).toSorted()).toEqual(Object.keys(declared()).toSorted());
});

it('every collection says whether the removal of a thread takes its documents', () => {
  const known = [...copyCollections, ...recordCollections, ...otherThreadCollections, ...threadlessCollections];
  expect(known.toSorted()).toEqual(Object.keys(declared()).toSorted());
});

it('P2: every unique index of a sharded collection begins with its shard key', () => {
  expect(refusedOf(spreads)).toEqual([]);
  expect(declared()['commits']).toMatchObject([
    { name: 'decided_in_shard', fields: ['shard', 'decided'], isUnique: true, isPartial: true },
  ]);
});

it('a shard key without an index of its own has one of the schema that MongoDB takes', () => {
  const supported = Object.entries(spreads).filter(([, { supportedBy }]) => supportedBy !== undefined);
  expect(supported.length).toBeGreaterThan(0);
  for (const [collection, { key, supportedBy }] of supported) {
    const index = declared()[collection]?.find(({ name }) => name === supportedBy);
    expect(index?.fields.slice(0, Object.keys(key ?? {}).length)).toEqual(Object.keys(key ?? {}));
    expect(index?.isPartial).toBe(false);
  }
});

it('P2: finds an index that does not', () => {
  expect(refusedOf({ ...spreads, commits: { key: { thread: 1 } }, threads: { key: { _id: 'hashed' } } })).toEqual([
    'commits.decided_in_shard',
    'threads.external_id_once',
  ]);
});

interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** What a mongosh would be asked for, by its own JavaScript. */
async function carriedOut(statements: readonly string[]): Promise<readonly Call[]> {
  const { createContext, runInContext } = await import('node:vm');
  const calls: Call[] = [];
  const record =
    (name: string) =>
    (...args: readonly unknown[]) =>
      void calls.push({ name, args });
  const db = {
    getSiblingDB: () => db,
    getCollection: (name: string) => ({ createIndex: record(`${name}.createIndex`) }),
    adminCommand: (command: { readonly listShards?: 1 }) =>
      command.listShards === 1 ? { shards: [{ _id: 'b' }, { _id: 'a' }] } : record('adminCommand')(command),
  };
  const sh = Object.fromEntries(['enableSharding', 'shardCollection', 'splitAt'].map((name) => [name, record(name)]));
  const context = createContext({ db, sh, MinKey: () => 'min', MaxKey: () => 'max' });
  for (const statement of statements) runInContext(statement, context);
  return JSON.parse(JSON.stringify(calls)) as readonly Call[];
}

it('P4: as statements of mongosh, they shard each collection by its key and deal the shards of the log out in turn', async () => {
  const calls = await carriedOut(shardingStatements('my db', 3).map(({ run }) => run));
  const sharded = calls.filter(({ name }) => name === 'shardCollection').map(({ args }) => args);
  const wanted = Object.entries(spreads).filter(([, { key }]) => key !== null);
  expect(sharded).toEqual(wanted.map(([collection, { key }]) => [`my db.${collection}`, key]));
  for (const [collection, { key, supportedBy }] of wanted)
    expect(calls.filter(({ name }) => name === `${collection}.createIndex`)).toEqual(
      supportedBy === undefined ? [{ name: `${collection}.createIndex`, args: [key] }] : [],
    );
  expect(calls.filter(({ name }) => name === 'splitAt').map(({ args }) => args[1])).toEqual([
    { shard: 1 },
    { shard: 2 },
  ]);
  const moved = calls
    .flatMap(({ args }) => args)
    .filter((arg) => arg !== null && typeof arg === 'object' && 'moveRange' in arg);
  expect(moved).toEqual(
    [
      ['a', { shard: 'min' }, { shard: 1 }],
      ['b', { shard: 1 }, { shard: 2 }],
      ['a', { shard: 2 }, { shard: 'max' }],
    ].map(([toShard, min, max]) => ({ moveRange: 'my db.commits', toShard, min, max, forceJumbo: true })),
  );
});
