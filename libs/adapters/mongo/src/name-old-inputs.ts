// Brings a database along whose commits do not name what they decided (decided-inputs.ts).
//
// Invariants:
//   O1. Repeatable, and done before the old index goes: at no moment can an input be decided twice. The new index is there
//       already, so that what is written meanwhile counts in both.
import type { CommitDocument } from './commit-document.ts';
import { decidedPart } from './decided-inputs.ts';
import type { MongoServer } from './mongo-server.ts';

/** Of the index from before. */
export const retiredIndex = 'input_once';
const atOnce = 1_000;

/** (O1) */
export async function nameOldInputs(server: MongoServer): Promise<void> {
  const commits = server.collection<CommitDocument>('commits');
  const fields = { tenant: 1, thread: 1, inputs: 1 } as const;
  for (let after = ''; ;) {
    const unnamed = { _id: { $gt: after }, 'inputs.0': { $exists: true }, decided: { $exists: false } };
    const found = await server.read(() =>
      commits.find(unnamed).project<CommitDocument>(fields).sort({ _id: 1 }).limit(atOnce).toArray(),
    );
    const last = found.at(-1);
    if (last === undefined) break;
    const updates = found.map(({ _id, inputs, ...key }) => ({
      updateOne: { filter: { _id }, update: { $set: decidedPart(key, inputs) } },
    }));
    await server.write(() => commits.bulkWrite(updates, { ordered: false }));
    after = last._id;
  }
  await server.write(() => commits.dropIndex(retiredIndex));
}
