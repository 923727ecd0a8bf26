// What tenants have used, by reporter, in `tenant_tallies`. Port: ports/stores/tenant-tallies.ts.
import type { TenantTallies, TenantTally, TenantTallyRow, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../../document-shape.ts';
import { idOf } from '../../id-of.ts';
import { type MongoServer, unordered } from '../../mongo-server.ts';

interface TallyDocument extends Omit<TenantTallyRow, 'until'> {
  readonly _id: string;
  /** Absent: it counts for ever. */
  readonly expiry?: Date;
}

const tallySchema = new Schema<TallyDocument>(
  { ...{ _id: text, tenant: text, name: text, reporter: text, amount: number }, expiry: Date },
  { ...everySchema, collection: 'tenant_tallies' },
);
tallySchema.index({ tenant: 1, name: 1 }, { name: 'by_tenant' });
tallySchema.index({ expiry: 1 }, { name: 'expiry', expireAfterSeconds: 0 });

interface Group {
  readonly _id: { readonly tenant: TenantId; readonly name: string };
  readonly amount: number;
}

export function createTenantTallies(server: MongoServer): TenantTallies {
  const tallies = server.connection.model<TallyDocument>('TenantTally', tallySchema);
  return {
    put: async (rows) => {
      if (rows.length === 0) return;
      const replacements = rows.map(({ until, ...row }) => {
        const _id = idOf(row.tenant, row.name, row.reporter);
        const end = until === null ? {} : { expiry: new Date(until) };
        return { replaceOne: { filter: { _id }, replacement: { ...row, ...end, _id }, upsert: true } };
      });
      await server.write(() => tallies.bulkWrite(replacements, unordered));
    },
    sums: async (tenants, butOf, now) => {
      if (tenants.length === 0) return [];
      const counts = { $or: [{ expiry: { $exists: false } }, { expiry: { $gt: new Date(now) } }] };
      const groups = await server.read(() =>
        tallies
          .aggregate<Group>([
            { $match: { tenant: { $in: [...tenants] }, reporter: { $ne: butOf }, ...counts } },
            { $group: { _id: { tenant: '$tenant', name: '$name' }, amount: { $sum: '$amount' } } },
          ])
          .exec(),
      );
      return groups.map(({ _id, amount }): TenantTally => ({ ..._id, amount: Number(amount) }));
    },
  };
}
