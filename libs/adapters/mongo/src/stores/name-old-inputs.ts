// Migrates a database whose commits do not name what they decided (decided-inputs.ts).
//
// Invariants:
//   O1. Repeatable: it ends when a whole pass finds nothing. Processes of the older version must be stopped: what they
//       write afterwards is not named.
import { type CommitDocument, commitSchema } from './commit-document.ts';
import { decidedNames } from './decided-inputs.ts';
import { type MongoServer, unordered } from '../mongo-server.ts';

const atOnce = 1_000;

/** (O1) */
export async function nameOldInputs(server: MongoServer): Promise<void> {
  while ((await pass(server)) > 0);
}

/** How many commits it named. */
async function pass(server: MongoServer): Promise<number> {
  const commits = server.connection.model<CommitDocument>('Commit', commitSchema);
  const fields = { tenant: 1, thread: 1, inputs: 1 } as const;
  for (let [after, named] = ['', 0]; ;) {
    const unnamed = { _id: { $gt: after }, 'inputs.0': { $exists: true }, decided: { $exists: false } };
    const found = await server.read(() => commits.find(unnamed, fields).sort({ _id: 1 }).limit(atOnce).lean());
    const last = found.at(-1);
    if (last === undefined) return named;
    const updates = found.map(({ _id, inputs, ...key }) => ({
      updateOne: { filter: { _id }, update: { $set: { decided: [...decidedNames(key, inputs)] } } },
    }));
    await server.write(() => commits.bulkWrite(updates, unordered));
    [after, named] = [last._id, named + found.length];
  }
}
