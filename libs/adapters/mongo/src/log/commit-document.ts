// A commit as one document of the collection `commits`.
//
// Invariants:
//   D1. `_id` is tenant, thread and version, the version in digits of one length: it decides races, and sorts. A tenant
//       contains no colon, and the part after the last one is the version: no two commits share an `_id`.
//   D2. `_id` determines `shard`: a server that has one of two documents with the same `_id` has the other one, too. So
//       the index of `_id` decides races on a sharded MongoDB, whose servers check it each for itself. (ADR 30)
import type { Commit, ThreadKey } from '@dormouse/ports';
import { mongo, type QueryFilter, Schema } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../document-shape.ts';
import { decidedNames } from './decided-inputs.ts';

export interface CommitDocument extends Commit {
  readonly _id: string;
  /** A function of tenant and thread. (shards H1) */
  readonly shard: number;
  /** The inputs that it decides (`decided-inputs.ts`), and last its place (`commit-places.ts`). */
  readonly decided?: readonly string[];
}

export const commitSchema = new Schema<CommitDocument>(
  {
    ...{ _id: text, v: number, tenant: text, thread: text, version: number, count: number },
    inputs: { type: [String], required: true },
    ...{ at: number, nonce: text, trace: textOrNull, kid: textOrNull, prev: text, hash: text, body: text },
    shard: number,
    decided: { type: [String], default: undefined },
  },
  { ...everySchema, collection: 'commits' },
);
/** What makes each input (decided-inputs N1) and place (commit-places P1) count once in its shard. */
export const decidedOnce = 'decided_in_shard';
commitSchema.index({ shard: 1, decided: 1 }, { name: decidedOnce, unique: true });

const versionDigits = 16;
const lastVersion = '9'.repeat(versionDigits);

export const commitIdOf = ({ tenant, thread }: ThreadKey, version: number): string =>
  `${tenant}:${thread}:${String(version).padStart(versionDigits, '0')}`;

/** `place` is the name of its place. */
export function documentOf(commit: Commit, shard: number, place: string): CommitDocument {
  const { v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body } = commit;
  return {
    _id: commitIdOf(commit, version),
    ...{ v, tenant, thread, version, count, inputs, at, nonce, trace, kid, prev, hash, body, shard },
    decided: [...decidedNames(commit, inputs), place],
  };
}

/** What MongoDB accepts. A server with a lower limit refuses the document itself (`thread-log.ts`). */
const documentBytesMax = 16_777_216;
const aroundBodyBytesMax = 65_536;
const placeBytesMax = 256;
const bytesPerCharacterMax = 3;

/** True when no document can hold it: the driver would not even send it, nor the rest of its group. */
export function isTooLarge(commit: Commit): boolean {
  if (commit.body.length * bytesPerCharacterMax + aroundBodyBytesMax < documentBytesMax) return false;
  return mongo.BSON.calculateObjectSize(documentOf(commit, 0, '')) + placeBytesMax > documentBytesMax;
}

export function commitOf({ _id: _, shard: __, decided: ___, ...commit }: CommitDocument): Commit {
  return commit;
}

/** Commits of one thread with `from <= version <= to`. The filter names both key parts: a thread may contain colons. */
export function versionRange(key: ThreadKey, shard: number, from: number, to: number | null) {
  const upper = to === null ? `${key.tenant}:${key.thread}:${lastVersion}` : commitIdOf(key, to);
  return { shard, _id: { $gte: commitIdOf(key, from), $lte: upper }, tenant: key.tenant, thread: key.thread };
}

export interface NameInShard {
  readonly shard: number;
  readonly name: string;
}

/** The documents with one of these names, at least one; each shard is asked for its own names alone. */
export function naming(names: readonly NameInShard[]): QueryFilter<CommitDocument> {
  const filters = [...Map.groupBy(names, ({ shard }) => shard)].map(([shard, ofShard]) => ({
    shard,
    decided: { $in: ofShard.map(({ name }) => name) },
  }));
  const [first, ...others] = filters;
  return first !== undefined && others.length === 0 ? first : { $or: filters };
}
