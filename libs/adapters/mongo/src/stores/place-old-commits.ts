// Migrates a database whose commits have no places (commit-places.ts): they get those of their partitions, thread by
// thread in the order of their ids, which begin with their times.
//
// Invariants:
//   O1. Repeatable: it ends when a whole pass finds nothing, and then says so in the database. Processes of the older
//       version must be stopped: readers of a tenant do not see what they write afterwards.
//   O2. No process starts before that is said.
import { Schema } from 'mongoose';
import { everySchema, text } from '../document-shape.ts';
import { inserted, type MongoServer, unordered } from '../mongo-server.ts';
import { type CommitDocument, commitSchema } from './commit-document.ts';
import { createCommitPlaces, placeOf } from './commit-places.ts';
import type { Partitions } from './timers.ts';

interface MigrationDocument {
  readonly _id: string;
}

const migrationSchema = new Schema<MigrationDocument>({ _id: text }, { ...everySchema, collection: 'migrations' });
const done: MigrationDocument = { _id: 'commits_have_places' };
const atOnce = 1_000;

/** With `again` also where it was done before. (O1) */
export async function placeOldCommits(
  server: MongoServer,
  partitions: Partitions,
  { again }: { readonly again: boolean },
): Promise<void> {
  if (!again && (await isDone(server))) return;
  while ((await pass(server, partitions)) > 0);
  await inserted(server, migrationsOf(server), done);
}

/** Why a process must not start, in a sentence; null when nothing prevents it. (O2) */
export async function placesProblem(server: MongoServer): Promise<string | null> {
  if (await isDone(server)) return null;
  return 'Commits of an older version have no places yet: bring the database along, with the services stopped, with: npm run setup';
}

const migrationsOf = ({ connection }: MongoServer) => connection.model<MigrationDocument>('Migration', migrationSchema);

async function isDone(server: MongoServer): Promise<boolean> {
  return (await server.read(() => migrationsOf(server).findOne(done).lean())) !== null;
}

/** How many commits it placed. */
async function pass(server: MongoServer, partitions: Partitions): Promise<number> {
  const commits = server.connection.model<CommitDocument>('Commit', commitSchema);
  const places = createCommitPlaces(server, commits, partitions);
  for (let [after, placed] = ['', 0]; ;) {
    const found = await server.read(() =>
      commits
        .find({ _id: { $gt: after } }, { tenant: 1, thread: 1, decided: 1 })
        .sort({ _id: 1 })
        .limit(atOnce)
        .lean(),
    );
    const last = found.at(-1);
    if (last === undefined) return placed;
    const unplaced = found.filter((document) => placeOf(document) === null);
    const names = await places.take(unplaced);
    const updates = unplaced.map(({ _id }, nth) => ({
      updateOne: { filter: { _id }, update: { $push: { decided: names[nth] ?? '' } } },
    }));
    if (updates.length > 0) await server.write(() => commits.bulkWrite(updates, unordered));
    [after, placed] = [last._id, placed + unplaced.length];
  }
}
