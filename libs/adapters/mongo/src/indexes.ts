// Every required index, created by an idempotent command and checked at every start: without one of them, queries would
// be slow, and an input could be decided twice.
//
// Invariants:
//   X1. An index is never changed under its name: a change of shape is a new name.
//   X2. A partial index serves only queries that contain its condition: others scan the whole collection.
//   X3. Where `decided_once` exists, every commit names what it decided: the index is created after the last commit
//       does, and the index that it replaces is dropped last. Until then no process starts.
import { Fault } from '@dormouse/ports';
import type { mongo } from 'mongoose';
import type { MongoServer } from './mongo-server.ts';
import { nameOldInputs } from './stores/name-old-inputs.ts';

interface Index {
  readonly collection: string;
  readonly name: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options?: mongo.CreateIndexesOptions;
}

const decidedOnce = 'decided_once';
/** The index that `decided_once` replaces. */
const retiredIndex = 'commits.input_once';
const listOrder = { createdAt: -1, thread: -1 } as const;

const indexes: readonly Index[] = [
  {
    collection: 'commits',
    name: decidedOnce,
    key: { decided: 1 },
    options: { unique: true, sparse: true },
  },
  {
    collection: 'threads',
    name: 'external_id_once',
    key: { tenant: 1, externalId: 1 },
    options: { unique: true, partialFilterExpression: { externalId: { $exists: true } } }, // (X2)
  },
  { collection: 'threads', name: 'newest', key: { tenant: 1, ...listOrder } },
  { collection: 'threads', name: 'by_status', key: { tenant: 1, status: 1, ...listOrder } },
  { collection: 'threads', name: 'by_agent', key: { tenant: 1, agent: 1, ...listOrder } },
  { collection: 'threads', name: 'by_parent', key: { tenant: 1, parent: 1, ...listOrder } },
  { collection: 'threads', name: 'by_user', key: { tenant: 1, userId: 1, ...listOrder } },
  { collection: 'threads', name: 'by_label', key: { tenant: 1, labels: 1, ...listOrder } },
  { collection: 'threads', name: 'openings', key: { status: 1, createdAt: 1 } },
  { collection: 'timers', name: 'by_due', key: { partition: 1, due: 1 } },
  { collection: 'idempotency', name: 'expiry', key: { expiresAt: 1 }, options: { expireAfterSeconds: 0 } },
  { collection: 'agents', name: 'by_name', key: { tenant: 1, name: 1, version: -1 } },
  { collection: 'agents', name: 'by_alias', key: { tenant: 1, alias: 1, version: -1 } },
  { collection: 'tool_servers', name: 'by_name', key: { tenant: 1, name: 1 } },
  { collection: 'tool_servers', name: 'alias_once', key: { tenant: 1, alias: 1 }, options: { unique: true } },
  { collection: 'parked', name: 'oldest', key: { tenant: 1, parkedAt: 1, thread: 1 } },
  { collection: 'parked', name: 'replays', key: { mark: 1 } },
  { collection: 'parked_inputs', name: 'in_order', key: { tenant: 1, thread: 1, place: 1 } },
  { collection: 'views', name: 'by_thread', key: { tenant: 1, thread: 1, viewType: 1 } },
  { collection: 'sealed', name: 'by_thread', key: { tenant: 1, thread: 1, toolCallId: 1 } },
  { collection: 'sealed', name: 'expiry', key: { expiry: 1 }, options: { expireAfterSeconds: 0 } },
  { collection: 'secrets', name: 'by_name', key: { tenant: 1, name: 1 } },
  { collection: 'api_keys', name: 'alias_once', key: { alias: 1 }, options: { unique: true } },
];

/** Creates what is missing, changes no existing index, and drops what has a successor. */
export async function ensureIndexes(server: MongoServer): Promise<void> {
  const there = await indexesOf(server);
  if (!there.has(`commits.${decidedOnce}`)) await nameOldInputs(server); // (X3)
  for (const { collection, name, key, options } of indexes)
    if (!there.has(`${collection}.${name}`))
      await server.write(() => server.collection(collection).createIndex(key, { ...options, name }));
  if (there.has(retiredIndex)) await dropRetired(server);
}

async function dropRetired(server: MongoServer): Promise<void> {
  const [collection = '', name = ''] = retiredIndex.split('.');
  try {
    await server.write(() => server.collection(collection).dropIndex(name));
  } catch (error) {
    if (causeCodeOf(error) !== indexNotFound) throw error; // another setup was faster
  }
}

/** Why a process must not start, in a sentence; null when nothing prevents it. */
export async function indexProblem(server: MongoServer): Promise<string | null> {
  const there = await indexesOf(server);
  const named = indexes.map((index) => ({ ...index, full: `${index.collection}.${index.name}` }));
  const missing = named.filter(({ full }) => !there.has(full));
  if (missing.length > 0) return `These indexes are missing: ${listed(missing)}. Make them with: npm run setup`;
  if (there.has(retiredIndex))
    return `The index ${retiredIndex} of an older version is still there: bring the database along, with the services stopped, with: npm run setup`;
  const others = named.filter((index) => shapeOf(index.key, index.options) !== there.get(index.full));
  if (others.length === 0) return null;
  return `These indexes are not what they must be: ${listed(others)}. Drop them, and make them anew with: npm run setup`;
}

const listed = (all: readonly { readonly full: string }[]): string => all.map(({ full }) => full).join(', ');

/** The properties of an index that decide its meaning. */
const shapeOf = (
  key: object,
  { unique, expireAfterSeconds, partialFilterExpression }: mongo.CreateIndexesOptions = {},
) =>
  JSON.stringify([
    Object.entries(key),
    unique === true,
    expireAfterSeconds ?? null,
    partialFilterExpression !== undefined,
  ]);

/** Shapes by `collection.index`. */
async function indexesOf(server: MongoServer): Promise<ReadonlyMap<string, string>> {
  const there = new Map<string, string>();
  for (const collection of new Set(indexes.map((index) => index.collection)))
    for (const each of await indexesIn(server, collection))
      there.set(`${collection}.${String(each.name)}`, shapeOf(each.key, each));
  return there;
}

const namespaceNotFound = 26;
const indexNotFound = 27;

function causeCodeOf(error: unknown): unknown {
  return error instanceof Fault ? (error.cause as { readonly code?: number } | undefined)?.code : null;
}

async function indexesIn(server: MongoServer, collection: string): Promise<readonly mongo.IndexDescriptionInfo[]> {
  try {
    return await server.read(() => server.collection(collection).indexes());
  } catch (error) {
    if (causeCodeOf(error) === namespaceNotFound) return []; // a collection without any document
    throw error;
  }
}
