// The audit. Contract: ports/stores/audit-log.ts.
//
// Invariants:
//   J1. A row's name is its tenant and its number, so that the server gives each number once. Rows are inserted in
//       order and up to the first that fails: none is stored behind a gap.
//   J2. A number that was removed is taken: a row is inserted only where the row before it is there, or none at all.
import type { AuditLog, AuditRow, TenantId } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { isDuplicate, type MongoServer } from '../mongo-server.ts';

interface AuditDocument extends Omit<AuditRow, 'at'> {
  readonly _id: string;
  readonly tenant: TenantId;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const schema = new Schema<AuditDocument>(
  {
    ...{ _id: text, tenant: text, seq: number, at: number, actor: text, action: text, target: textOrNull },
    ...{ from: textOrNull, outcome: text, request_id: textOrNull, prev: text, hash: text },
  },
  { ...everySchema, collection: 'audit' },
);
schema.index({ tenant: 1, seq: 1 }, { name: 'in_order' });

export function createAuditLog(server: MongoServer): AuditLog {
  const rows = server.connection.model<AuditDocument>('AuditRow', schema);
  const documentOf = (tenant: TenantId, row: AuditRow): AuditDocument => ({
    ...{ ...row, _id: idOf(tenant, String(row.seq)), tenant, at: Date.parse(row.at) },
  });
  async function isNext(tenant: TenantId, seq: number): Promise<boolean> {
    if (seq > 1) return (await server.read(() => rows.findOne({ _id: idOf(tenant, String(seq - 1)) }).lean())) !== null;
    return (await server.read(() => rows.findOne({ tenant }).lean())) === null;
  }

  return {
    append: async (tenant, given) => {
      if (!(await isNext(tenant, given[0]?.seq ?? 1))) return false; // (J2)
      try {
        await server.write(() =>
          rows.insertMany(
            given.map((row) => documentOf(tenant, row)),
            { ordered: true },
          ),
        );
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false; // (J1)
        throw error;
      }
    },
    last: async (tenant) => {
      const [last] = await server.read(() => rows.find({ tenant }).sort({ seq: -1 }).limit(1).lean());
      return last === undefined ? null : rowOf(last);
    },
    page: async (tenant, { actor, action, from, to }, { beyond, order, limit }) => {
      const found = await server.read(() =>
        rows
          .find({
            tenant,
            ...(beyond !== null && { seq: order === 'asc' ? { $gt: beyond } : { $lt: beyond } }),
            ...(actor !== undefined && { actor }),
            ...(action !== undefined && { action }),
            ...((from !== undefined || to !== undefined) && {
              at: { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lt: to }) },
            }),
          })
          .sort({ seq: order === 'asc' ? 1 : -1 })
          .limit(limit)
          .lean(),
      );
      return found.map(rowOf);
    },
    remove: async (tenant, upTo) => {
      const [last] = await server.read(() => rows.find({ tenant }).sort({ seq: -1 }).limit(1).lean());
      if (last === undefined) return;
      const before = { tenant, seq: { $lte: Math.min(upTo, last.seq - 1) } };
      await server.write(() => rows.deleteMany(before));
    },
  };
}

const rowOf = ({ seq, at, actor, action, target, from, ...row }: AuditDocument): AuditRow => ({
  ...{ seq, at: new Date(at).toISOString(), actor, action, target, from },
  ...{ outcome: row.outcome, request_id: row.request_id, prev: row.prev, hash: row.hash },
});
