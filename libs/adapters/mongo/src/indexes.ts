// Every required index, declared in the schema of its collection, created by an idempotent command and checked at every
// start: without one of them, queries would be slow, and an input could be decided twice.
//
// Invariants:
//   X1. An index is never changed under its name: a change of shape is a new name.
//   X2. A partial index serves only queries that contain its condition: others scan the whole collection.
//   X3. Where `decided_in_shard` exists, every commit has its shard and names what it decided: the index is created
//       after the last commit does, and those that it replaces are dropped last. Until then no process starts.
//   X4. An index that no schema declares is left alone: an operator may have made it.
//   X5. Where the server returns no options of any index, name and key decide whether an index is the declared one.
import { Fault } from '@dormouse/ports';
import type { IndexDefinition, IndexOptions, Model } from 'mongoose';
import type { MongoServer } from './mongo-server.ts';
import { decidedOnce } from './log/commit-document.ts';
import { shardOldCommits } from './migrations/shard-old-commits.ts';
import type { Shards } from './log/shards.ts';

/** As a schema declares it. */
interface Index {
  readonly model: Model<unknown>;
  readonly key: IndexDefinition;
  readonly options: IndexOptions;
  /** With its collection. */
  readonly name: string;
}

interface IndexDiff {
  readonly missing: readonly Index[];
  /** There is another index of this name. */
  readonly different: readonly Index[];
  /** In the database, and in no schema. */
  readonly extra: readonly string[];
}

const decidedIndex = `commits.${decidedOnce}`;
/** The indexes that it replaces. */
const retiredIndexes = ['commits.input_once', 'commits.decided_once'];
const indexNotFound = 27;

/** Creates what is missing, changes no existing index, and drops what has a successor. `areNew`: that of decided inputs
 * was missing. */
export async function ensureIndexes(
  server: MongoServer,
  shards: Shards,
  { hasOldCommits }: { readonly hasOldCommits: boolean },
): Promise<{ readonly areNew: boolean }> {
  const { missing, extra } = await diffOf(server);
  const areNew = missing.some(({ name }) => name === decidedIndex);
  if (areNew || hasOldCommits) await shardOldCommits(server, shards); // (X3)
  for (const { model, key, options } of missing)
    await server.write(() => model.createIndexes({ toCreate: [[key, options]] } as object));
  for (const retired of retiredIn(extra)) await dropRetired(server, retired);
  return { areNew };
}

const retiredIn = (extra: readonly string[]): readonly string[] =>
  retiredIndexes.filter((name) => extra.includes(name));

async function dropRetired(server: MongoServer, retired: string): Promise<void> {
  const [collection = '', name = ''] = retired.split('.');
  try {
    await server.write(() => server.connection.collection(collection).dropIndex(name));
  } catch (error) {
    const { code } = (error instanceof Fault ? error.cause : {}) as { readonly code?: number };
    if (code !== indexNotFound) throw error; // another setup was faster
  }
}

/** Why a process must not start, in a sentence; null when nothing prevents it. */
export async function indexProblem(server: MongoServer): Promise<string | null> {
  const { missing, different, extra } = await diffOf(server);
  if (missing.length > 0) return `These indexes are missing: ${listed(missing)}. Make them with: npm run setup`;
  const [retired] = retiredIn(extra);
  if (retired !== undefined)
    return `The index ${retired} of an older version is still there: bring the database along, with the services stopped, with: npm run setup`;
  const others = different.length === 0 ? [] : await reallyDifferent(server, different);
  if (others.length === 0) return null;
  return `These indexes are not what they must be: ${listed(others)}. Drop them, and make them anew with: npm run setup`;
}

const listed = (all: readonly Index[]): string => all.map(({ name }) => name).join(', ');

async function diffOf(server: MongoServer): Promise<IndexDiff> {
  const diff = { missing: [] as Index[], different: [] as Index[], extra: [] as string[] };
  for (const model of indexedModels(server)) {
    const full = (name: unknown): string => `${model.collection.name}.${String(name)}`;
    const found = await server.read(() => model.diffIndexes({ indexOptionsToCreate: true }));
    const dropped = new Set(found.toDrop.map(full));
    for (const [key, options] of found.toCreate as readonly [IndexDefinition, IndexOptions][]) {
      const name = full(options.name);
      (dropped.delete(name) ? diff.different : diff.missing).push({ model, key, options, name });
    }
    diff.extra.push(...dropped);
  }
  return diff;
}

/** (X5) */
async function reallyDifferent(server: MongoServer, different: readonly Index[]): Promise<readonly Index[]> {
  const keys = new Map<string, string>();
  for (const model of indexedModels(server))
    for (const { name, key, unique, expireAfterSeconds } of await server.read(() => model.listIndexes())) {
      if (unique !== undefined || expireAfterSeconds !== undefined) return different;
      keys.set(`${model.collection.name}.${name}`, JSON.stringify(key));
    }
  return different.filter(({ name, key }) => keys.get(name) !== JSON.stringify(key));
}

const indexedModels = ({ connection }: MongoServer): readonly Model<unknown>[] =>
  Object.values(connection.models).filter(({ schema }) => schema.indexes().length > 0);
