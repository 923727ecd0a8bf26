// Keys of families, found by ranges of `_id`. Port: ports/stores/family-keys.ts.
import type { FamilyKey, FamilyKeys, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, text, textOrNull } from '../../document-shape.ts';
import { idOf, idsBehind } from '../../id-of.ts';
import { inserted, type MongoServer, updated, upserted } from '../../mongo-server.ts';

interface FamilyKeyDocument extends FamilyKey {
  readonly _id: string;
}

const schema = new Schema<FamilyKeyDocument>(
  { _id: text, tenant: text, family: text, sealed: textOrNull },
  { ...everySchema, collection: 'family_keys' },
);

export function createFamilyKeys(server: MongoServer): FamilyKeys {
  const documents = server.connection.model<FamilyKeyDocument>('FamilyKey', schema);

  async function get(tenant: TenantId, families: readonly string[]): Promise<readonly FamilyKey[]> {
    const ids = families.map((family) => idOf(tenant, family));
    return (await server.read(() => documents.find({ _id: { $in: ids } }).lean())).map(keyOf);
  }

  async function eraseOne(tenant: TenantId, family: string): Promise<void> {
    const filter = { _id: idOf(tenant, family) };
    const update = { $set: { tenant, family, sealed: null } };
    await upserted(server, (options) => documents.updateOne(filter, update, options));
  }

  return {
    insert: async (key) => {
      const { tenant, family, sealed } = key;
      if (await inserted(server, documents, { _id: idOf(tenant, family), tenant, family, sealed })) return key;
      return (await get(tenant, [family]))[0] ?? { tenant, family, sealed: null };
    },
    get,
    page: async (tenant, after, limit) => {
      const range = idsBehind(tenant);
      const _id = after === null ? range : { ...range, $gt: idOf(tenant, after) };
      return (await server.read(() => documents.find({ _id }).sort({ _id: 1 }).limit(limit).lean())).map(keyOf);
    },
    replace: async ({ tenant, family, sealed }, seen) => {
      if (seen.sealed === null) return false;
      return updated(server, documents, { _id: idOf(tenant, family), sealed: seen.sealed }, { $set: { sealed } });
    },
    erase: async (tenant, families) => {
      for (const family of families) await eraseOne(tenant, family);
    },
  };
}

const keyOf = ({ tenant, family, sealed }: FamilyKeyDocument): FamilyKey => ({ tenant, family, sealed });
