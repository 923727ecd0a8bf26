// Large payloads by their hash. Port: ports/blobs.ts.
import type { Blobs } from '@dormouse/ports';
import { mongo, Schema } from 'mongoose';
import { everySchema, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { inserted, type MongoServer } from '../mongo-server.ts';

interface BlobDocument {
  readonly _id: string;
  readonly mediaType: string;
  readonly bytes: mongo.Binary;
}

const blobSchema = new Schema<BlobDocument>(
  { _id: text, mediaType: text, bytes: { type: Buffer, required: true } },
  { ...everySchema, collection: 'blobs' },
);

export function createBlobs(server: MongoServer): Blobs {
  const blobs = server.connection.model<BlobDocument>('Blob', blobSchema);
  return {
    // Of the same bytes, storing twice is storing once.
    put: (tenant, sha256, bytes, mediaType) =>
      inserted(server, blobs, { _id: idOf(tenant, sha256), mediaType, bytes: new mongo.Binary(bytes) }),
    get: async (tenant, sha256) => {
      const found = await server.read(() => blobs.findOne({ _id: idOf(tenant, sha256) }).lean());
      return found && { bytes: Uint8Array.from(found.bytes.buffer), mediaType: found.mediaType };
    },
  };
}
