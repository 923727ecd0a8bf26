// Reads documents by id; ids that are requested at the same time share one query: when a process takes over thousands
// of threads, or dispatches many calls at once, the round trips would cost more than the answers.
//
// Invariants:
//   F1. A document of another shape fails its own reader, not the others of its query.
import type { Model } from 'mongoose';
import { shapeCheck } from './document-shape.ts';
import type { MongoServer } from './mongo-server.ts';
import { together } from './together.ts';

/** `atOnceMax` limits the documents of one answer. */
export function findById<Document extends { readonly _id: string }>(
  server: MongoServer,
  model: Model<Document>,
  atOnceMax: number,
): (id: string) => Promise<Document | null> {
  const check = shapeCheck(model.schema);
  const find = together<string, Document | null>(async (ids) => {
    const filter = { _id: { $in: [...new Set(ids)] } };
    const found = await server.read(() => model.find(filter).setOptions({ middleware: false }).lean<Document[]>());
    const byId = new Map(found.map((document) => [document._id, document]));
    return ids.map((id) => byId.get(id) ?? null);
  }, atOnceMax);
  return async (id) => {
    const found = await find(id);
    if (found !== null) check(found); // (F1)
    return found;
  };
}
