// Migrates a database whose commits have no shards (shards.ts), or do not name what they decided (decided-inputs.ts).
//
// Invariants:
//   O1. Repeatable, and several at once do the same: what a commit gets is a function of the commit and the number of
//       shards. It ends when a whole pass finds nothing. Processes of the older version must be stopped: what they
//       write afterwards has no shard.
//   O2. There are as many shards as partitions, and never fewer than a place of before needs. (commit-places P4)
//   O3. A commit that decides no input names itself: the index takes one document of a shard that names nothing.
import { idOf } from '../id-of.ts';
import { type MongoServer, unordered } from '../mongo-server.ts';
import { type CommitDocument, commitSchema } from '../log/commit-document.ts';
import { isVoid, placeOf } from '../log/commit-places.ts';
import { decidedNames } from '../log/decided-inputs.ts';
import { fixShards, type Shards, storedShards } from '../log/shards.ts';

const atOnce = 1_000;

/** The number that the database says; one that says nothing is given a number first. (O2) */
export async function settleShards(server: MongoServer, partitions: number): Promise<Shards> {
  const stored = await storedShards(server);
  return stored ?? fixShards(server, Math.max(partitions, await neededByPlaces(server)));
}

/** (O1) */
export async function shardOldCommits(server: MongoServer, shards: Shards): Promise<void> {
  while ((await pass(server, shards)) > 0);
}

export async function hasCommits(server: MongoServer): Promise<boolean> {
  return (await server.read(() => commitsOf(server).findOne({}, { _id: 1 }).lean())) !== null;
}

async function neededByPlaces(server: MongoServer): Promise<number> {
  let needed = 0;
  for await (const found of batches(server, {}, { decided: 1 }))
    needed = Math.max(needed, ...found.map((document) => (placeOf(document)?.shard ?? -1) + 1));
  return needed;
}

/** How many commits it changed. */
async function pass(server: MongoServer, shards: Shards): Promise<number> {
  let changed = 0;
  const unfinished = { $or: [{ shard: { $exists: false } }, { decided: { $exists: false } }] };
  const fields = { tenant: 1, thread: 1, version: 1, count: 1, inputs: 1, decided: 1 } as const;
  for await (const found of batches(server, unfinished, fields)) {
    const updates = found.map((document) => ({
      updateOne: { filter: { _id: document._id }, update: { $set: missingOf(document, shards) } },
    }));
    await server.write(() => commitsOf(server).bulkWrite(updates, unordered));
    changed += found.length;
  }
  return changed;
}

/** What a pass reads of a commit. */
type Known = Pick<CommitDocument, '_id' | 'tenant' | 'thread' | 'version' | 'count' | 'shard' | 'inputs' | 'decided'>;

function missingOf(document: Known, shards: Shards): Pick<CommitDocument, 'shard' | 'decided'> {
  const { tenant, thread, version, inputs, decided } = document;
  // A void has no thread, and a place of its shard. (commit-places P4)
  const shard = (isVoid(document) ? placeOf(document)?.shard : null) ?? shards.of(document);
  if (decided !== undefined) return { shard };
  return { shard, decided: inputs.length > 0 ? [...decidedNames(document, inputs)] : [idOf(tenant, thread, version)] }; // (O3)
}

const commitsOf = ({ connection }: MongoServer) => connection.model<CommitDocument>('Commit', commitSchema);

/** Commits in the order of their ids, without the check of their shape: they are of an older version. */
export async function* batches(
  server: MongoServer,
  filter: object,
  fields: Readonly<Partial<Record<keyof CommitDocument, 1>>>,
): AsyncGenerator<readonly Known[]> {
  for (let after = ''; ;) {
    const found = await server.read(() =>
      commitsOf(server)
        .find({ ...filter, _id: { $gt: after } }, fields)
        .sort({ _id: 1 })
        .limit(atOnce)
        .lean<Known[]>(),
    );
    const last = found.at(-1);
    if (last === undefined) return;
    yield found;
    after = last._id;
  }
}
