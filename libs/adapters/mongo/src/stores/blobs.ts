// Large payloads by their hash, with the threads that name them. Port: ports/stores/blobs.ts.
//
// Invariants:
//   B1. Bytes and names are one document: a thread is added to a blob that is there, or the blob is stored anew.
//   B2. A blob without the field `threads` stays as long as its tenant: one of an earlier release, one that was put
//       without a thread, and one that more than `threadsMax` threads have named.
import type { Blobs } from '@dormouse/ports';
import { mongo, Schema } from 'mongoose';
import { everySchema, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

export interface BlobDocument {
  readonly _id: string;
  readonly mediaType: string;
  readonly bytes: mongo.Binary;
  readonly threads?: readonly string[];
}

const blobSchema = new Schema<BlobDocument>(
  {
    ...{ _id: text, mediaType: text, bytes: { type: Buffer, required: true } },
    threads: { type: [String], default: undefined },
  },
  { ...everySchema, collection: 'blobs' },
);
blobSchema.index({ threads: 1 }, { name: 'by_thread', partialFilterExpression: { threads: { $exists: true } } });

const threadsMax = 1_000;
/** Each was removed between the two questions. */
const triesMax = 20;

export function createBlobs(server: MongoServer): Blobs {
  const blobs = server.connection.model<BlobDocument>('Blob', blobSchema);

  /** False when there is no such blob. */
  async function name(_id: string, thread: string | undefined): Promise<boolean> {
    const full = `threads.${threadsMax - 1}`;
    const change =
      thread === undefined
        ? { filter: { _id }, update: { $unset: { threads: '' } } }
        : {
            filter: { _id, threads: { $exists: true }, [full]: { $exists: false } },
            update: { $addToSet: { threads: thread } },
          };
    const { matchedCount } = await server.write(() =>
      blobs.collection.updateOne(change.filter as object, change.update),
    );
    if (matchedCount === 1) return true;
    // (B2) also for one that too many threads have named
    const { matchedCount: there } = await server.write(() => blobs.updateOne({ _id }, { $unset: { threads: '' } }));
    return there === 1;
  }

  return {
    put: async (tenant, sha256, bytes, mediaType, thread) => {
      const _id = idOf(tenant, sha256);
      const named = thread === undefined ? {} : { threads: [thread] };
      const document = { _id, mediaType, bytes: new mongo.Binary(bytes), ...named };
      for (let tries = 0; tries < triesMax; tries += 1) {
        if (await inserted(server, blobs, document)) return true;
        if (await name(_id, thread)) return false; // (B1)
      }
      throw new Error(`the blob ${sha256} is stored and removed all the time`);
    },
    get: async (tenant, sha256) => {
      const found = await server.read(() => blobs.findOne({ _id: idOf(tenant, sha256) }).lean());
      return found && { bytes: Uint8Array.from(found.bytes.buffer), mediaType: found.mediaType };
    },
    remove: async (tenant, sha256) => void (await server.write(() => blobs.deleteOne({ _id: idOf(tenant, sha256) }))),
  };
}
