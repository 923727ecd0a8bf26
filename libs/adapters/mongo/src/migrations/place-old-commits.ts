// Migrates a database whose commits have no places (commit-places.ts), or places of partitions: those without get the
// next places of their shards, thread by thread in the order of their ids, which begin with their times; those with a
// place of a partition that is not their shard keep it, by a forward.
//
// Invariants:
//   O1. Repeatable: it ends when a whole pass finds nothing, and then says so in the database. Processes of the older
//       version must be stopped: readers of a tenant do not see what they write afterwards.
//   O2. No process starts before that is said.
//   O3. Forwards come first: the next place of a shard is then behind all that were ever given in it.
import { Schema } from 'mongoose';
import { everySchema, text } from '../document-shape.ts';
import { duplicatePlaces, faultOf, inserted, type MongoServer, unordered } from '../mongo-server.ts';
import { type CommitDocument, commitSchema } from '../log/commit-document.ts';
import { createCommitPlaces, forwardFor, placeOf } from '../log/commit-places.ts';
import { batches } from './shard-old-commits.ts';
import type { Shards } from '../log/shards.ts';

interface MigrationDocument {
  readonly _id: string;
}

const migrationSchema = new Schema<MigrationDocument>({ _id: text }, { ...everySchema, collection: 'migrations' });
const done: MigrationDocument = { _id: 'commits_have_places_in_shards' };

/** With `again` also where it was done before. (O1) */
export async function placeOldCommits(
  server: MongoServer,
  shards: Shards,
  { again }: { readonly again: boolean },
): Promise<void> {
  if (!again && (await isDone(server))) return;
  await forwardAll(server); // (O3)
  while ((await pass(server, shards)) > 0);
  await inserted(server, placesModel(server), done);
}

/** Why a process must not start, in a sentence; null when nothing prevents it. (O2) */
export async function placesProblem(server: MongoServer): Promise<string | null> {
  if (await isDone(server)) return null;
  return 'Commits of an older version have no places yet: bring the database along, with the services stopped, with: npm run setup';
}

export const placesModel = ({ connection }: MongoServer) =>
  connection.model<MigrationDocument>('Migration', migrationSchema);
const commitsOf = ({ connection }: MongoServer) => connection.model<CommitDocument>('Commit', commitSchema);
const fields = { tenant: 1, thread: 1, version: 1, shard: 1, decided: 1 } as const;

async function isDone(server: MongoServer): Promise<boolean> {
  return (await server.read(() => placesModel(server).findOne(done).lean())) !== null;
}

async function forwardAll(server: MongoServer): Promise<void> {
  for await (const found of batches(server, {}, fields)) {
    const forwards = found.flatMap((document) => forwardFor(document) ?? []);
    if (forwards.length === 0) continue;
    try {
      await server.write(() => commitsOf(server).insertMany(forwards, unordered));
    } catch (error) {
      if (duplicatePlaces(error) === null) throw faultOf(error); // else another pass has inserted them
    }
  }
}

/** How many commits it placed. */
async function pass(server: MongoServer, shards: Shards): Promise<number> {
  const places = createCommitPlaces(server, commitsOf(server), shards);
  let placed = 0;
  for await (const found of batches(server, {}, fields)) {
    const unplaced = found.filter((document) => placeOf(document) === null);
    const names = await places.take(unplaced);
    const updates = unplaced.map(({ _id }, nth) => ({
      updateOne: { filter: { _id }, update: { $push: { decided: names[nth] ?? '' } } },
    }));
    // In order: a pass that goes on after a crash gives later versions of a thread higher places.
    if (updates.length > 0) await server.write(() => commitsOf(server).bulkWrite(updates, { ordered: true }));
    placed += unplaced.length;
  }
  return placed;
}
