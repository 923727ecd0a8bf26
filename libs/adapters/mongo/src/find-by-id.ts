// Reads documents by id; ids that are requested at the same time share one query: when a process takes over thousands
// of threads, or dispatches many calls at once, the round trips would cost more than the answers.
import type { Model } from 'mongoose';
import type { MongoServer } from './mongo-server.ts';
import { together } from './together.ts';

/** `atOnceMax` limits the documents of one answer. */
export function findById<Document extends { readonly _id: string }>(
  server: MongoServer,
  model: Model<Document>,
  atOnceMax: number,
): (id: string) => Promise<Document | null> {
  return together<string, Document | null>(async (ids) => {
    const filter = { _id: { $in: [...new Set(ids)] } };
    const found = await server.read(() => model.find(filter).lean<Document[]>());
    const byId = new Map(found.map((document) => [document._id, document]));
    return ids.map((id) => byId.get(id) ?? null);
  }, atOnceMax);
}
