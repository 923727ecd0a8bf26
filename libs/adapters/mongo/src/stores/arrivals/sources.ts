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
import { nameAfter, pageOf } from '../registry/registry.ts';

interface SourceDocument {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly name: string;
  /** The id that may be used instead of the name. */
  readonly alias: string;
  readonly tokenSha256: string;
  readonly document: string;
}

const sourceSchema = new Schema<SourceDocument>(
  { _id: text, tenant: text, name: text, alias: text, tokenSha256: text, document: text },
  { ...everySchema, collection: 'sources' },
)
  .index({ tenant: 1, name: 1 }, { name: 'by_name' })
  .index({ tenant: 1, alias: 1 }, { name: 'alias_once', unique: true })
  .index({ tokenSha256: 1 }, { name: 'token_once', unique: true });

/** A document this adapter has written itself. */
const parsed = ({ document }: SourceDocument): Source => JSON.parse(document) as Source;

export function createSources(server: MongoServer): Sources {
  const sources = server.connection.model<SourceDocument>('Source', sourceSchema);
  return {
    insert: (source) => {
      const { tenant, name, id: alias, tokenSha256 } = source;
      const document = JSON.stringify(source);
      return inserted(server, sources, { _id: idOf(tenant, name), tenant, name, alias, tokenSha256, document });
    },
    get: async (tenant, nameOrId) => {
      const filter = { tenant, $or: [{ name: nameOrId }, { alias: nameOrId }] };
      const found = await server.read(() => sources.findOne(filter).lean());
      return found && parsed(found);
    },
    byToken: async (tokenSha256) => {
      const found = await server.read(() => sources.findOne({ tokenSha256 }).lean());
      return found && parsed(found);
    },
    list: async (tenant, page) => {
      const found = await server.read(() =>
        sources
          .find({ tenant, name: { $gt: nameAfter(page) } })
          .sort({ name: 1 })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(parsed), page);
    },
    // The text of an object that was read is the text that is stored.
    replace: async (source, seen) => {
      const filter = { _id: idOf(source.tenant, source.name), document: JSON.stringify(seen) };
      const change = { $set: { document: JSON.stringify(source) } };
      return (await server.write(() => sources.updateOne(filter, change))).matchedCount === 1;
    },
    remove: async (tenant, name) => {
      const { deletedCount } = await server.write(() => sources.deleteOne({ _id: idOf(tenant, name) }));
      return deletedCount === 1;
    },
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
