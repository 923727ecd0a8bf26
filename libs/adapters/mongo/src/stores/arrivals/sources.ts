// Sources in `sources`, and the deliveries that they have brought in `source_deliveries`.
// Port: ports/arrivals/sources.ts.
import {
  claimsKeptMs,
  type Deliveries,
  type Delivery,
  type Source,
  type Sources,
  type TenantId,
} from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

interface SourceDocument extends JsonDocument {
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly tokenSha256: string;
}

const sourceSchema = new Schema<SourceDocument>(
  { _id: text, tenant: text, name: text, alias: text, tokenSha256: text, document: text },
  { ...everySchema, collection: 'sources' },
)
  .index({ tenant: 1, name: 1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1 }, { name: 'alias_once', unique: true })
  .index({ tokenSha256: 1 }, { name: 'token_once', unique: true });

export function createSources(server: MongoServer): Sources {
  const sources = server.connection.model<SourceDocument>('Source', sourceSchema);
  const documents = jsonDocuments<Source, SourceDocument>(server, sources);
  return {
    insert: (source) => {
      const { tenant, name, id: alias, tokenSha256 } = source;
      const document = JSON.stringify(source);
      return inserted(server, sources, { _id: idOf(tenant, name), tenant, name, alias, tokenSha256, document });
    },
    get: (tenant, nameOrId) => documents.one({ tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] }),
    byToken: (tokenSha256) => documents.one({ tokenSha256 }),
    list: (tenant, page) => documents.page('name', { tenant }, page),
    replace: (source, seen) => documents.replace(idOf(source.tenant, source.name), source, seen),
    remove: (tenant, name) => documents.remove({ _id: idOf(tenant, name) }),
  };
}

interface DeliveryDocument {
  readonly _id: string;
  readonly thread: string;
  readonly at: number;
  /** One of before has none, and stays. */
  readonly expiry?: Date;
}

const deliverySchema = new Schema<DeliveryDocument>(
  { _id: text, thread: text, at: number, expiry: Date },
  { ...everySchema, collection: 'source_deliveries' },
).index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

export function createDeliveries(server: MongoServer): Deliveries {
  const deliveries = server.connection.model<DeliveryDocument>('SourceDelivery', deliverySchema);
  const find = async (tenant: TenantId, id: string): Promise<Delivery | null> => {
    const found = await server.read(() => deliveries.findOne({ _id: idOf(tenant, id) }).lean());
    return found && { tenant, id, thread: found.thread, at: found.at };
  };
  return {
    find,
    claim: async (delivery) => {
      const { tenant, id, thread, at } = delivery;
      const expiry = new Date(at + claimsKeptMs);
      const isFirst = await inserted(server, deliveries, { _id: idOf(tenant, id), thread, at, expiry });
      return { delivery: isFirst ? delivery : ((await find(tenant, id)) ?? delivery), isFirst };
    },
  };
}
