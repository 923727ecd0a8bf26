// Deliveries to endpoints of customers, in `deliveries`. Port: ports/stores/hooks/webhooks.ts.
import {
  attemptsKept,
  deliveriesKeptMs,
  type DeliveryName,
  pageOf,
  textBefore,
  type WebhookAttempt,
  type WebhookDeliveries,
  type WebhookDelivery,
} from '@dormouse/ports';
import { type Model, Schema } from 'mongoose';
import { everySchema, number, numberOrNull, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { duplicatePlaces, type MongoServer, unordered, updated } from '../../mongo-server.ts';

interface DeliveryDocument extends Omit<WebhookDelivery, 'attempts'> {
  readonly _id: string;
  /** JSON. */
  readonly attempts: string;
  /** From then on the server deletes it. */
  readonly expiry: Date;
}

const deliverySchema = new Schema<DeliveryDocument>(
  {
    ...{ _id: text, tenant: text, webhook: text, id: text, event: text, body: text, createdAt: number },
    ...{ state: text, attempts: text, tries: number, nextAt: numberOrNull },
    expiry: { type: Date, required: true },
  },
  { ...everySchema, collection: 'deliveries' },
)
  .index({ tenant: 1, webhook: 1, id: 1 }, { name: 'in_order' })
  .index({ tenant: 1, state: 1, webhook: 1, nextAt: 1 }, { name: 'by_due' })
  .index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

/** The same model for each that works on the collection. */
export const deliveriesOf = ({ connection }: MongoServer): Model<DeliveryDocument> =>
  (connection.models['Delivery'] as Model<DeliveryDocument> | undefined) ??
  connection.model<DeliveryDocument>('Delivery', deliverySchema);

const nameOf = ({ tenant, webhook, id }: DeliveryName): string => idOf(tenant, webhook, id);

export function createWebhookDeliveries(server: MongoServer): WebhookDeliveries {
  const deliveries = deliveriesOf(server);
  const begun = (nextAt: number) => ({ $set: { state: 'pending', tries: 0, nextAt } }) as const;
  return {
    insert: async (given) => {
      if (given.length === 0) return 0;
      try {
        await server.write(() => deliveries.insertMany(given.map(documentOf), unordered));
        return given.length;
      } catch (error) {
        const known = duplicatePlaces(error);
        if (known === null) throw error;
        return given.length - known.size;
      }
    },
    get: async (name) => {
      const found = await server.read(() => deliveries.findOne({ _id: nameOf(name) }).lean());
      return found && deliveryOf(found);
    },
    list: async (tenant, webhook, page) => {
      const before = textBefore(page);
      const found = await server.read(() =>
        deliveries
          .find({ tenant, webhook, ...(before === null ? {} : { id: { $lt: before } }) })
          .sort({ id: -1 })
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(deliveryOf), page, ({ id }) => [id]);
    },
    due: async (tenant, webhook, now, limit) => {
      const found = await server.read(() =>
        deliveries
          .find({ tenant, state: 'pending', webhook, nextAt: { $lte: now } })
          .sort({ nextAt: 1, id: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(deliveryOf);
    },
    waiting: async (tenant) => {
      const found = await server.read(() =>
        deliveries.aggregate<{ readonly _id: string; readonly nextAt: number }>([
          { $match: { tenant, state: 'pending' } },
          { $group: { _id: '$webhook', nextAt: { $min: '$nextAt' } } },
        ]),
      );
      return found.map(({ _id, nextAt }) => ({ webhook: _id, nextAt }));
    },
    record: (seen, attempt, { state, nextAt }) => {
      const filter = { _id: nameOf(seen), state: 'pending', tries: seen.tries } as const;
      const attempts = JSON.stringify([...seen.attempts, attempt].slice(-attemptsKept));
      return updated(server, deliveries, filter, { $set: { attempts, state, nextAt, tries: seen.tries + 1 } });
    },
    again: async (name, at) => {
      const _id = nameOf(name);
      return (
        (await updated(server, deliveries, { _id, state: { $ne: 'pending' } }, begun(at))) ||
        updated(server, deliveries, { _id, state: 'pending' }, { $set: { nextAt: at } })
      );
    },
    recover: async (tenant, webhook, since, at) => {
      const filter = { tenant, webhook, state: { $in: ['failed', 'aborted'] }, createdAt: { $gte: since } } as const;
      return (await server.write(() => deliveries.updateMany(filter as object, begun(at)))).matchedCount;
    },
    fail: async (tenant, webhook) => {
      const filter = { tenant, state: 'pending', webhook } as const;
      const failed = { $set: { state: 'failed', nextAt: null } } as const;
      return (await server.write(() => deliveries.updateMany(filter, failed))).matchedCount;
    },
  };
}

const documentOf = (delivery: WebhookDelivery): DeliveryDocument => ({
  ...{ ...delivery, _id: nameOf(delivery), attempts: JSON.stringify(delivery.attempts) },
  expiry: new Date(delivery.createdAt + deliveriesKeptMs),
});

function deliveryOf({ _id, expiry: _expiry, attempts, ...delivery }: DeliveryDocument): WebhookDelivery {
  return { ...delivery, attempts: JSON.parse(attempts) as readonly WebhookAttempt[] };
}
