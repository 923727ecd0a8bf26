// The inputs that a commit decides, as names that are unique in the whole database: the field `decided` of its document.
//
// Invariants:
//   N1. One string for each input, with its tenant and thread in it: the index that makes an input count once has one short key
//       per input. (One over tenant, thread and inputs took a sixth of what PostgreSQL had to do for a commit.)
//   N2. A commit that decides nothing has no such field, and no place in the index.
//   N3. Commits from before the field get it before the old index goes: at no moment can an input be decided twice.
import type { ThreadKey } from '@dormouse/ports';
import { idOf } from './id-of.ts';
import type { CommitDocument } from './commit-document.ts';
import type { MongoServer } from './mongo-server.ts';

export const decidedName = ({ tenant, thread }: ThreadKey, input: string): string => idOf(tenant, thread, input);

/** The part of a commit's document that is ours. (N2) */
export const decidedPart = (key: ThreadKey, inputs: readonly string[]) =>
  inputs.length === 0 ? {} : { decided: inputs.map((input) => decidedName(key, input)) };

/** Of the index from before. */
export const retiredIndex = 'input_once';
const atOnce = 1_000;

/** (N3) Repeatable; the new index is there already, so that what is written meanwhile counts in both. */
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
