// Endpoints of customers in `webhooks`, and readers of the log for them in `webhook_readers`. Port:
// ports/stores/hooks/webhooks.ts.
import {
  encodeCursor,
  type Webhook,
  type WebhookReader,
  type WebhookReaders,
  type Webhooks,
  type TenantId,
} from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { deliveriesOf, idBehind } from './deliveries.ts';

interface WebhookDocument {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly id: string;
  /** The endpoint as JSON. */
  readonly document: string;
}

const webhookSchema = new Schema<WebhookDocument>(
  { _id: text, tenant: text, id: text, document: text },
  { ...everySchema, collection: 'webhooks' },
).index({ tenant: 1, id: 1 }, { name: 'in_order' });

const parsed = ({ document }: WebhookDocument): Webhook => JSON.parse(document) as Webhook;

export function createWebhooks(server: MongoServer): Webhooks {
  const webhooks = server.connection.model<WebhookDocument>('Webhook', webhookSchema);
  const deliveries = deliveriesOf(server);
  return {
    insert: (webhook) => {
      const { tenant, id } = webhook;
      return inserted(server, webhooks, { _id: idOf(tenant, id), tenant, id, document: JSON.stringify(webhook) });
    },
    get: async (tenant, id) => {
      const found = await server.read(() => webhooks.findOne({ _id: idOf(tenant, id) }).lean());
      return found && parsed(found);
    },
    list: async (tenant, { limit, cursor }) => {
      const after = idBehind(cursor);
      const found = await server.read(() =>
        webhooks
          .find({ tenant, ...(after === null ? {} : { id: { $gt: after } }) })
          .sort({ id: 1 })
          .limit(limit + 1)
          .lean(),
      );
      const data = found.slice(0, limit).map(parsed);
      const last = data.at(-1);
      return { data, nextCursor: found.length > limit && last ? encodeCursor([last.id]) : null };
    },
    count: (tenant) => server.read(() => webhooks.countDocuments({ tenant })),
    // The text of an object that was read is the text that is stored.
    replace: async (webhook, seen) => {
      const filter = { _id: idOf(webhook.tenant, webhook.id), document: JSON.stringify(seen) };
      const change = { $set: { document: JSON.stringify(webhook) } };
      return (await server.write(() => webhooks.updateOne(filter, change))).matchedCount === 1;
    },
    remove: async (tenant, id) => {
      const { deletedCount } = await server.write(() => webhooks.deleteOne({ _id: idOf(tenant, id) }));
      await server.write(() => deliveries.deleteMany({ tenant, webhook: id }));
      return deletedCount === 1;
    },
  };
}

interface ReaderDocument extends WebhookReader {
  readonly _id: string;
  readonly holder: string | null;
}

const readerId = (tenant: TenantId): string => idOf(tenant, 'reader');

const readerSchema = new Schema<ReaderDocument>(
  { _id: text, tenant: text, place: text, changes: number, holder: textOrNull, heldUntil: number },
  { ...everySchema, collection: 'webhook_readers' },
)
  .index({ tenant: 1 }, { name: 'by_tenant' })
  .index({ holder: 1 }, { name: 'by_holder' });

export function createWebhookReaders(server: MongoServer): WebhookReaders {
  const readers = server.connection.model<ReaderDocument>('WebhookReader', readerSchema);
  const readerOf = ({ tenant, place, changes, heldUntil }: ReaderDocument): WebhookReader => ({
    ...{ tenant, place, changes, heldUntil },
  });

  async function countUp(_id: string): Promise<boolean> {
    const { matchedCount } = await server.write(() => readers.updateOne({ _id }, { $inc: { changes: 1 } }));
    return matchedCount === 1;
  }

  return {
    changed: async (tenant, place) => {
      const _id = readerId(tenant);
      if (await countUp(_id)) return true;
      if (place === null) return false;
      const made = { _id, tenant, place, changes: 1, holder: null, heldUntil: 0 };
      return (await inserted(server, readers, made)) || countUp(_id); // made by another process meanwhile
    },
    list: async (after, limit) => {
      const found = await server.read(() =>
        readers
          .find(after === null ? {} : { tenant: { $gt: after } })
          .sort({ tenant: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(readerOf);
    },
    get: async (tenant) => {
      const found = await server.read(() => readers.findOne({ _id: readerId(tenant) }).lean());
      return found && readerOf(found);
    },
    hold: async (tenant, holder, now, until) => {
      const free = { $or: [{ holder: null }, { holder }, { heldUntil: { $lte: now } }] };
      const held = { $set: { holder, heldUntil: until } };
      const { matchedCount } = await server.write(() => readers.updateOne({ _id: readerId(tenant), ...free }, held));
      return matchedCount === 1;
    },
    renew: async (holder, until) => {
      await server.write(() => readers.updateMany({ holder }, { $set: { heldUntil: until } }));
    },
    release: async (holder) => {
      await server.write(() => readers.updateMany({ holder }, { $set: { holder: null, heldUntil: 0 } }));
    },
    advance: async (tenant, holder, place) => {
      const { matchedCount } = await server.write(() =>
        readers.updateOne({ _id: readerId(tenant), holder }, { $set: { place } }),
      );
      return matchedCount === 1;
    },
    remove: async ({ tenant, changes }) => {
      const { deletedCount } = await server.write(() => readers.deleteOne({ _id: readerId(tenant), changes }));
      return deletedCount === 1;
    },
  };
}
