// Credentials of end users for tool servers, each as JSON in one document: names that users chose never become names of
// fields. Found by ranges of `_id`, so that no index is needed. Port: ports/registry/user-credentials.ts.
import type { UserCredential, UserCredentials } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { isDuplicate, type MongoServer } from '../../mongo-server.ts';

interface Stored {
  readonly _id: string;
  readonly document: string;
}

const schema = new Schema<Stored>({ _id: text, document: text }, { ...everySchema, collection: 'user_credentials' });

/** Ids whose list begins with these parts: `-` follows the comma. */
function beginningWith(...parts: readonly string[]): { readonly $gt: string; readonly $lt: string } {
  const open = idOf(...parts).slice(0, -1);
  return { $gt: `${open},`, $lt: `${open}-` };
}

const idOfCredential = ({ tenant, userId, toolServer }: UserCredential): string => idOf(tenant, userId, toolServer);
const parsed = ({ document }: Stored): UserCredential => JSON.parse(document) as UserCredential;

export function createUserCredentials(server: MongoServer): UserCredentials {
  const documents = server.connection.model<Stored>('UserCredential', schema);
  return {
    put: async (credential) => {
      const filter = { _id: idOfCredential(credential) };
      const update = { $set: { document: JSON.stringify(credential) } };
      try {
        await server.write(() => documents.updateOne(filter, update, { upsert: true }));
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        await server.write(() => documents.updateOne(filter, update)); // inserted by another process meanwhile
      }
    },
    get: async (tenant, userId, toolServer) => {
      const found = await server.read(() => documents.findOne({ _id: idOf(tenant, userId, toolServer) }).lean());
      return found && parsed(found);
    },
    list: async (tenant, userId) => {
      const found = await server.read(() =>
        documents
          .find({ _id: beginningWith(tenant, userId) })
          .sort({ _id: 1 })
          .lean(),
      );
      return found.map(parsed);
    },
    page: async (tenant, after, limit) => {
      const range = beginningWith(tenant);
      const _id = after === null ? range : { ...range, $gt: idOfCredential(after) };
      const found = await server.read(() => documents.find({ _id }).sort({ _id: 1 }).limit(limit).lean());
      return found.map(parsed);
    },
    replace: async (credential, seen) => {
      const filter = { _id: idOfCredential(credential), document: JSON.stringify(seen) };
      const document = JSON.stringify(credential);
      return (await server.write(() => documents.updateOne(filter, { $set: { document } }))).matchedCount === 1;
    },
    remove: async (tenant, userId, toolServer) => {
      const filter = { _id: idOf(tenant, userId, toolServer) };
      return (await server.write(() => documents.deleteOne(filter))).deletedCount === 1;
    },
  };
}
