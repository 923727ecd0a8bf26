// The shards of the log: how many there are, and which one the commits of a thread belong to. A shard is what a sharded
// MongoDB can move from one of its servers to another (ADR 30).
//
// Invariants:
//   H1. The number of shards is written once, by the first setup, and never changed. Every process reads it before it
//       reads or writes a commit: no two of them see a thread in different shards.
//   H2. Partitions of the bus are chosen by the same function: with as many of them as shards, a shard is a partition.
import { createPartitioner, Fault, type ThreadKey } from '@dormouse/ports';
import { type Model, Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

export interface Shards {
  readonly count: number;
  of(key: ThreadKey): number;
}

interface ShardsDocument {
  readonly _id: string;
  readonly shards: number;
}

const shardsSchema = new Schema<ShardsDocument>(
  { _id: text, shards: number },
  { ...everySchema, collection: 'sharding' },
);
const _id = 'commits';

export const shardsOf = (count: number): Shards => ({ count, of: createPartitioner(count) });

/** Null in a database that was never set up, or by an older version only. */
export async function storedShards(server: MongoServer): Promise<Shards | null> {
  const found = await server.read(() => shardsModel(server).findOne({ _id }).lean());
  return found === null ? null : shardsOf(found.shards);
}

/** What the database says afterwards: of several callers at the same time one wins. (H1) */
export async function fixShards(server: MongoServer, count: number): Promise<Shards> {
  await inserted(server, shardsModel(server), { _id, shards: count });
  return (await storedShards(server)) ?? shardsOf(count);
}

/** @throws Fault INDEX_MISSING where nothing is stored. */
export async function knownShards(server: MongoServer): Promise<Shards> {
  const shards = await storedShards(server);
  if (shards !== null) return shards;
  const problem = 'This database does not say how many shards its log has: it is new, or of an older version.';
  throw new Fault('INDEX_MISSING', `${problem} Set it up, with the services stopped, with: npm run setup`);
}

export const shardsModel = ({ connection }: MongoServer): Model<ShardsDocument> =>
  connection.model<ShardsDocument>('Sharding', shardsSchema);
