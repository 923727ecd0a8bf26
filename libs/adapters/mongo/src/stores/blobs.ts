// Large payloads by their hash. Port: ports/blobs.ts.
import type { Blobs } from '@dormouse/ports';
import { mongo } from 'mongoose';
import { idOf } from '../id-of.ts';
import { isDuplicate, type MongoServer } from '../mongo-server.ts';

interface BlobDocument {
  readonly _id: string;
  readonly mediaType: string;
  readonly bytes: mongo.Binary;
}

export function createBlobs(server: MongoServer): Blobs {
  const blobs = server.collection<BlobDocument>('blobs');
  return {
    put: async (tenant, sha256, bytes, mediaType) => {
      const document = { _id: idOf(tenant, sha256), mediaType, bytes: new mongo.Binary(bytes) };
      try {
        await server.write(() => blobs.insertOne(document));
      } catch (error) {
        if (!isDuplicate(error)) throw error; // the same bytes: storing twice is storing once
      }
    },
    get: async (tenant, sha256) => {
      const found = await server.read(() => blobs.findOne({ _id: idOf(tenant, sha256) }));
      return found && { bytes: Uint8Array.from(found.bytes.buffer), mediaType: found.mediaType };
    },
  };
}
