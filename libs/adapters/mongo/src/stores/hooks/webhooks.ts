// Endpoints of customers in `webhooks`, and readers of the log for them in `webhook_readers`. Port:
// ports/stores/hooks/webhooks.ts.
import type { Webhook, WebhookReader, WebhookReaders, Webhooks, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer, removed, updated } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';
import { deliveriesOf } from './deliveries.ts';

interface WebhookDocument extends JsonDocument {
  readonly tenant: TenantId;
  readonly id: string;
}

const webhookSchema = new Schema<WebhookDocument>(
  { _id: text, tenant: text, id: text, document: text },
  { ...everySchema, collection: 'webhooks' },
).index({ tenant: 1, id: 1 }, { name: 'in_order' });

export function createWebhooks(server: MongoServer): Webhooks {
  const webhooks = server.connection.model<WebhookDocument>('Webhook', webhookSchema);
  const documents = jsonDocuments<Webhook, WebhookDocument>(server, webhooks);
  const deliveries = deliveriesOf(server);
  return {
    insert: (webhook) => {
      const { tenant, id } = webhook;
      return inserted(server, webhooks, { _id: idOf(tenant, id), tenant, id, document: JSON.stringify(webhook) });
    },
    get: (tenant, id) => documents.one({ _id: idOf(tenant, id) }),
    list: (tenant, page) => documents.page('id', { tenant }, page),
    count: (tenant) => server.read(() => webhooks.countDocuments({ tenant })),
    replace: (webhook, seen) => documents.replace(idOf(webhook.tenant, webhook.id), webhook, seen),
    remove: async (tenant, id) => {
      const isRemoved = await documents.remove({ _id: idOf(tenant, id) });
      await server.write(() => deliveries.deleteMany({ tenant, webhook: id }));
      return isRemoved;
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

  const countUp = (_id: string): Promise<boolean> => updated(server, readers, { _id }, { $inc: { changes: 1 } });

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
    hold: (tenant, holder, now, until) => {
      const free = { $or: [{ holder: null }, { holder }, { heldUntil: { $lte: now } }] };
      return updated(server, readers, { _id: readerId(tenant), ...free }, { $set: { holder, heldUntil: until } });
    },
    renew: async (holder, until) => {
      await server.write(() => readers.updateMany({ holder }, { $set: { heldUntil: until } }));
    },
    release: async (holder) => {
      await server.write(() => readers.updateMany({ holder }, { $set: { holder: null, heldUntil: 0 } }));
    },
    advance: (tenant, holder, place) =>
      updated(server, readers, { _id: readerId(tenant), holder }, { $set: { place } }),
    remove: ({ tenant, changes }) => removed(server, readers, { _id: readerId(tenant), changes }),
  };
}
