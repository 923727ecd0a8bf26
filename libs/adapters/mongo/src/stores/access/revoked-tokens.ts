// Revoked tokens. Contract: ports/stores/revoked-tokens.ts.
import type { RevokedTokens, TokenName } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import type { MongoServer } from '../../mongo-server.ts';

interface RevokedTokenDocument extends TokenName {
  readonly _id: string;
  /** The server deletes the document some time after this. */
  readonly expiry: Date;
}

const schema = new Schema<RevokedTokenDocument>(
  { _id: text, tenant: text, thread: text, id: text, expiry: { type: Date, required: true } },
  { ...everySchema, collection: 'revokedTokens', id: false },
);
schema.index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

export function createRevokedTokens(server: MongoServer): RevokedTokens {
  const revoked = server.connection.model<RevokedTokenDocument>('RevokedToken', schema);
  const nameOf = ({ tenant, thread, id }: TokenName): string => idOf(tenant, thread, id);
  return {
    add: async (token, expiresAt) => {
      const { tenant, thread, id } = token;
      const document = { _id: nameOf(token), tenant, thread, id, expiry: new Date(expiresAt) };
      await server.write(() => revoked.replaceOne({ _id: document._id }, document, { upsert: true }));
    },
    among: async (tokens) => {
      if (tokens.length === 0) return [];
      const found = await server.read(() => revoked.find({ _id: { $in: tokens.map(nameOf) } }).lean());
      return found.map(({ tenant, thread, id }) => ({ tenant, thread, id }));
    },
  };
}
