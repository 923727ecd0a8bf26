// Tenants in `tenants`, their threads that are held in `held_threads`, and the erasure of what the other collections
// have of one. Ports: ports/registry/tenants.ts, ports/stores/held-threads.ts, ports/stores/tenant-eraser.ts.
//
// Invariants:
//   E1. The `_id` of every document but a key's begins with its tenant (id-of.ts, commit-document D1): the index of the
//       `_id` finds a tenant's documents, however many others there are.
import { randomInt } from 'node:crypto';
import {
  decodeCursor,
  encodeCursor,
  type HeldBy,
  type HeldGroup,
  type HeldThread,
  type HeldThreads,
  invalidCursor,
  type TenantEraser,
  type TenantRecord,
  type Tenants,
  type TenantId,
} from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';

interface TenantDocument {
  /** The tenant's id. */
  readonly _id: string;
  readonly state: string;
  /** The record as JSON. */
  readonly document: string;
}

const tenantSchema = new Schema<TenantDocument>(
  { _id: text, state: text, document: text },
  { ...everySchema, collection: 'tenants' },
).index({ state: 1 }, { name: 'by_state' });

const parsed = ({ document }: TenantDocument): TenantRecord => JSON.parse(document) as TenantRecord;

export function createTenants(server: MongoServer): Tenants {
  const tenants = server.connection.model<TenantDocument>('Tenant', tenantSchema);
  return {
    insert: (tenant) =>
      inserted(server, tenants, { _id: tenant.id, state: tenant.state, document: JSON.stringify(tenant) }),
    get: async (id) => {
      const found = await server.read(() => tenants.findOne({ _id: id }).lean());
      return found && parsed(found);
    },
    list: async ({ limit, cursor }) => {
      const [after = ''] = cursor === null ? [] : decodeCursor(cursor);
      if (typeof after !== 'string') throw invalidCursor();
      const found = await server.read(() =>
        tenants
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(limit + 1)
          .lean(),
      );
      const data = found.slice(0, limit).map(parsed);
      const last = data.at(-1);
      return { data, nextCursor: found.length > limit && last ? encodeCursor([last.id]) : null };
    },
    // The text of an object that was read is the text that is stored.
    replace: async (tenant, seen) => {
      const filter = { _id: tenant.id, document: JSON.stringify(seen) };
      const change = { $set: { state: tenant.state, document: JSON.stringify(tenant) } };
      return (await server.write(() => tenants.updateOne(filter, change))).matchedCount === 1;
    },
    deleting: async () => {
      const found = await server.read(() => tenants.find({ state: 'deleting' }).sort({ _id: 1 }).lean());
      return found.map(parsed);
    },
  };
}

interface HeldDocument extends HeldThread {
  readonly _id: string;
  /** Absent in documents of earlier releases, which knew one reason: the tenant. */
  readonly by?: HeldBy;
}

const heldSchema = new Schema<HeldDocument>(
  { _id: text, tenant: text, thread: text, mark: number, by: String },
  { ...everySchema, collection: 'held_threads' },
)
  .index({ tenant: 1, thread: 1 }, { name: 'by_thread' })
  .index({ tenant: 1, by: 1, thread: 1 }, { name: 'by_reason' });

/** Two marks of one thread are the same once in as many times. */
const marksMax = 2 ** 48 - 1;

/** A mark of the tenant has the id that it had in earlier releases. */
const heldId = (tenant: TenantId, thread: string, by: HeldBy): string =>
  by === 'tenant' ? idOf(tenant, thread) : idOf(tenant, thread, by);

const isBy = (by: HeldBy): object => (by === 'tenant' ? { by: { $in: [by, null] } } : { by });

export function createHeldThreads(server: MongoServer): HeldThreads {
  const held = server.connection.model<HeldDocument>('HeldThread', heldSchema);
  return {
    hold: async ({ tenant, thread }, by) => {
      const document = { _id: heldId(tenant, thread, by), tenant, thread, by, mark: randomInt(marksMax) };
      await server.write(() => held.replaceOne({ _id: document._id }, document, { upsert: true }));
    },
    groups: async () => {
      const groups: HeldGroup[] = [];
      for (const tenant of await server.read(() => held.distinct('tenant'))) {
        const reasons = await server.read(() => held.distinct('by', { tenant }));
        // Documents of earlier releases name no reason.
        const found = new Set<HeldBy>(reasons.flatMap((by) => by ?? []));
        if (await server.read(() => held.exists({ tenant, ...isBy('tenant') }))) found.add('tenant');
        for (const by of found) groups.push({ tenant, by });
      }
      return groups;
    },
    list: async ({ tenant, by }, after, limit) => {
      const behind = after === null ? {} : { thread: { $gt: after } };
      const found = await server.read(() =>
        held
          .find({ tenant, ...isBy(by), ...behind })
          .sort({ thread: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(({ thread, mark }) => ({ tenant, thread, mark }));
    },
    remove: async ({ tenant, thread, mark }) => {
      await server.write(() => held.deleteOne({ tenant, thread, mark }));
    },
  };
}

/** Collections of the installation, not of a tenant. */
const sharedCollections: ReadonlySet<string> = new Set(['tenants', 'installation', 'migrations', 'sharding']);

export function createTenantEraser(server: MongoServer): TenantEraser {
  const { connection } = server;
  return {
    erase: async (tenant) => {
      const list = `[${JSON.stringify(tenant)}`;
      const ranges = [
        { _id: { $gte: `${list},`, $lt: `${list}-` } },
        { _id: { $gte: `${tenant}:`, $lt: `${tenant};` } },
      ]; // (E1) the next character of each
      let count = 0;
      for (const model of Object.values(connection.models)) {
        const { name } = model.collection;
        if (sharedCollections.has(name)) continue;
        const filters = name === 'api_keys' ? [{ tenant }] : ranges;
        for (const filter of filters)
          count += (await server.write(() => connection.collection(name).deleteMany(filter as object))).deletedCount;
      }
      return count;
    },
  };
}
