// API keys by the hash of the key. Port: ports/registry/api-keys.ts.
import type { ApiKey, ApiKeys } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { inserted, type MongoServer, removed, updated } from '../../mongo-server.ts';
import { parsed } from '../json-documents.ts';
import type { Stored } from './registry.ts';

interface StoredKey extends Stored {
  /** Beside the document, so that it is noted without reading that. */
  readonly lastUsedAt?: number;
  /** Beside the document, so that a change of it is one write. */
  readonly revokedAt?: number;
  /** Replaces that of the document. */
  readonly expiresAt?: number;
}

const apiKeySchema = new Schema<StoredKey>(
  {
    _id: text,
    tenant: text,
    name: text,
    alias: text,
    version: number,
    document: text,
    lastUsedAt: Number,
    revokedAt: Number,
    expiresAt: Number,
  },
  { ...everySchema, collection: 'api_keys' },
).index({ alias: 1 }, { name: 'alias_once', unique: true });

export function createApiKeys(server: MongoServer): ApiKeys {
  const keys = server.connection.model<StoredKey>('ApiKey', apiKeySchema);
  return {
    insert: async (key) => {
      const { tenant, name, id } = key;
      const document = JSON.stringify(key);
      await inserted(server, keys, { _id: key.keySha256, tenant, name, alias: id, version: 1, document });
    },
    bySha256: async (keySha256) => {
      const found = await server.read(() => keys.findOne({ _id: keySha256 }).lean());
      return found && keyOf(found);
    },
    list: async (tenant) => {
      const found = await server.read(() => keys.find({ tenant }).sort({ alias: 1 }).lean());
      return found.map(keyOf);
    },
    used: async (keySha256, at) => {
      await server.write(() => keys.updateOne({ _id: keySha256 }, { $max: { lastUsedAt: at } }));
    },
    end: (tenant, id, change) => updated(server, keys, { tenant, alias: id, revokedAt: null }, { $set: change }),
    remove: (tenant, id) => removed(server, keys, { tenant, alias: id }),
  };
}

const keyOf = (stored: StoredKey): ApiKey => ({
  ...parsed<ApiKey>(stored),
  ...(stored.expiresAt === undefined ? {} : { expiresAt: stored.expiresAt }),
  ...(stored.lastUsedAt === undefined ? {} : { lastUsedAt: stored.lastUsedAt }),
  ...(stored.revokedAt === undefined ? {} : { revokedAt: stored.revokedAt }),
});
