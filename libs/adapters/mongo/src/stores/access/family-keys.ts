// Keys of families, found by ranges of `_id`. Port: ports/stores/family-keys.ts.
import type { FamilyKey, FamilyKeys, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, text, textOrNull } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, isDuplicate, type MongoServer } from '../../mongo-server.ts';

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
    try {
      await server.write(() => documents.updateOne(filter, update, { upsert: true }));
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      await server.write(() => documents.updateOne(filter, update)); // inserted by another process meanwhile
    }
  }

  return {
    insert: async (key) => {
      const { tenant, family, sealed } = key;
      if (await inserted(server, documents, { _id: idOf(tenant, family), tenant, family, sealed })) return key;
      return (await get(tenant, [family]))[0] ?? { tenant, family, sealed: null };
    },
    get,
    page: async (tenant, after, limit) => {
      const open = idOf(tenant).slice(0, -1);
      const _id = { $gt: after === null ? `${open},` : idOf(tenant, after), $lt: `${open}-` };
      return (await server.read(() => documents.find({ _id }).sort({ _id: 1 }).limit(limit).lean())).map(keyOf);
    },
    replace: async ({ tenant, family, sealed }, seen) => {
      if (seen.sealed === null) return false;
      const filter = { _id: idOf(tenant, family), sealed: seen.sealed };
      return (await server.write(() => documents.updateOne(filter, { $set: { sealed } }))).matchedCount === 1;
    },
    erase: async (tenant, families) => {
      for (const family of families) await eraseOne(tenant, family);
    },
  };
}

const keyOf = ({ tenant, family, sealed }: FamilyKeyDocument): FamilyKey => ({ tenant, family, sealed });
