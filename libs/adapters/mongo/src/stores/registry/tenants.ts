// Tenants in `tenants`, their threads that are held in `held_threads`, and the erasure of what the other collections
// have of one. Ports: ports/registry/tenants.ts, ports/stores/held-threads.ts, ports/stores/tenant-eraser.ts.
//
// Invariants:
//   E1. The `_id` of every document but a key's begins with its tenant (id-of.ts, commit-document D1): the index of the
//       `_id` finds a tenant's documents, however many others there are.
import { randomInt } from 'node:crypto';
import type {
  HeldBy,
  HeldGroup,
  HeldThread,
  HeldThreads,
  TenantEraser,
  TenantRecord,
  Tenants,
  TenantId,
} from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf, idsBehind } from '../../id-of.ts';
import { inserted, type MongoServer } from '../../mongo-server.ts';
import { type JsonDocument, jsonDocuments } from '../json-documents.ts';

/** The `_id` is the tenant's id. */
interface TenantDocument extends JsonDocument {
  readonly state: string;
}

const tenantSchema = new Schema<TenantDocument>(
  { _id: text, state: text, document: text },
  { ...everySchema, collection: 'tenants' },
).index({ state: 1 }, { name: 'by_state' });

export function createTenants(server: MongoServer): Tenants {
  const tenants = server.connection.model<TenantDocument>('Tenant', tenantSchema);
  const documents = jsonDocuments<TenantRecord, TenantDocument>(server, tenants);
  return {
    insert: (tenant) =>
      inserted(server, tenants, { _id: tenant.id, state: tenant.state, document: JSON.stringify(tenant) }),
    get: (id) => documents.one({ _id: id }),
    list: (page) => documents.page('_id', {}, page),
    replace: (tenant, seen) => documents.replace(tenant.id, tenant, seen, { state: tenant.state }),
    deleting: () => documents.all({ state: 'deleting' }, { _id: 1 }),
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
      // (E1) `;` follows the colon.
      const ranges = [{ _id: idsBehind(tenant) }, { _id: { $gte: `${tenant}:`, $lt: `${tenant};` } }];
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
