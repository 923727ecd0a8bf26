// Reads documents by id; ids that are requested at the same time share one query: when a process takes over thousands
// of threads, or dispatches many calls at once, the round trips would cost more than the answers.
import type { mongo } from 'mongoose';
import type { MongoServer } from './mongo-server.ts';
import { together } from './together.ts';

interface Identified {
  readonly _id: string;
}

/** `atOnceMax` limits the documents of one answer. */
export function findById<Document extends Identified>(
  server: MongoServer,
  documents: mongo.Collection<Document>,
  atOnceMax: number,
): (id: string) => Promise<mongo.WithId<Document> | null> {
  return together(async (ids) => {
    const filter = { _id: { $in: [...new Set(ids)] } } as mongo.Filter<Document>;
    const found = await server.read(() => documents.find(filter).toArray());
    const byId = new Map(found.map((document) => [String(document._id), document]));
    return ids.map((id) => byId.get(id) ?? null);
  }, atOnceMax);
}
