// Credentials of end users for tool servers, found by ranges of `_id`, so that no index is needed. Port:
// ports/registry/user-credentials.ts.
import type { UserCredential, UserCredentials } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, text } from '../../document-shape.ts';
import { idOf, idsBehind } from '../../id-of.ts';
import { type MongoServer, upserted } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

const schema = new Schema<JsonDocument>(
  { _id: text, document: text },
  { ...everySchema, collection: 'user_credentials' },
);

const idOfCredential = ({ tenant, userId, toolServer }: UserCredential): string => idOf(tenant, userId, toolServer);

export function createUserCredentials(server: MongoServer): UserCredentials {
  const credentials = server.connection.model<JsonDocument>('UserCredential', schema);
  const documents = jsonDocuments<UserCredential, JsonDocument>(server, credentials);
  return {
    put: async (credential) => {
      const filter = { _id: idOfCredential(credential) };
      const update = { $set: { document: JSON.stringify(credential) } };
      await upserted(server, (options) => credentials.updateOne(filter, update, options));
    },
    get: (tenant, userId, toolServer) => documents.one({ _id: idOf(tenant, userId, toolServer) }),
    list: (tenant, userId) => documents.all({ _id: idsBehind(tenant, userId) }, { _id: 1 }),
    page: (tenant, after, limit) => {
      const range = idsBehind(tenant);
      const _id = after === null ? range : { ...range, $gt: idOfCredential(after) };
      return documents.all({ _id }, { _id: 1 }, limit);
    },
    replace: (credential, seen) => documents.replace(idOfCredential(credential), credential, seen),
    remove: (tenant, userId, toolServer) => documents.remove({ _id: idOf(tenant, userId, toolServer) }),
  };
}
