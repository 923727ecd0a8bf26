// Every index there must be, made by an idempotent command and checked at every start: a missing one would not only be slow,
// it would let an input be decided twice.
//
// Invariants:
//   X1. An index is never changed under its name: a change of shape is a new name.
//   X2. A partial index serves only questions that say its condition: without it they walk through the whole collection.
import { Fault } from '@dormouse/ports';
import type { mongo } from 'mongoose';
import type { MongoServer } from './mongo-server.ts';

interface Index {
  readonly collection: string;
  readonly name: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options?: mongo.CreateIndexesOptions;
}

/** Of the index `input_once`, and of everything that is to be answered by it. (X2) */
export const decidedSomething = { 'inputs.0': { $exists: true } } as const;

const listOrder = { createdAt: -1, thread: -1 } as const;

const indexes: readonly Index[] = [
  {
    collection: 'commits',
    name: 'input_once',
    key: { tenant: 1, thread: 1, inputs: 1 },
    options: { unique: true, partialFilterExpression: decidedSomething },
  },
  {
    collection: 'threads',
    name: 'external_id_once',
    key: { tenant: 1, externalId: 1 },
    options: { unique: true, partialFilterExpression: { externalId: { $exists: true } } },
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
  { collection: 'parked_inputs', name: 'in_order', key: { tenant: 1, thread: 1, place: 1 } },
  { collection: 'views', name: 'by_thread', key: { tenant: 1, thread: 1, viewType: 1 } },
  { collection: 'sealed', name: 'by_thread', key: { tenant: 1, thread: 1, toolCallId: 1 } },
  { collection: 'sealed', name: 'expiry', key: { expiry: 1 }, options: { expireAfterSeconds: 0 } },
  { collection: 'secrets', name: 'by_name', key: { tenant: 1, name: 1 } },
  { collection: 'api_keys', name: 'alias_once', key: { alias: 1 }, options: { unique: true } },
];

/** Makes what is missing; changes nothing that is there. */
export async function ensureIndexes(server: MongoServer): Promise<void> {
  for (const { collection, name, key, options } of indexes)
    await server.write(() => server.collection(collection).createIndex(key, { ...options, name }));
}

/** Names, as `collection.index`. */
export async function missingIndexes(server: MongoServer): Promise<readonly string[]> {
  const there = new Set<string>();
  for (const collection of new Set(indexes.map((index) => index.collection)))
    for (const name of await indexNames(server, collection)) there.add(`${collection}.${name}`);
  return indexes.map(({ collection, name }) => `${collection}.${name}`).filter((name) => !there.has(name));
}

const namespaceNotFound = 26;

async function indexNames(server: MongoServer, collection: string): Promise<readonly string[]> {
  try {
    const found = await server.read(() => server.collection(collection).listIndexes().toArray());
    return found.map(({ name }) => String(name));
  } catch (error) {
    const cause = error instanceof Fault ? (error.cause as { readonly code?: number } | undefined) : undefined;
    if (cause?.code === namespaceNotFound) return []; // a collection that nobody has written to
    throw error;
  }
}
