// Usage of threads by UTC day, in `thread_usage`. Port: ports/log/usage.ts.
//
// Invariants:
//   G1. There is a document for each thread and day, replaced by those of later positions.
//   G2. Sums are made by the server, over an index that begins with tenant and day, or with tenant and thread.
import {
  decodeCursor,
  encodeCursor,
  invalidCursor,
  noUsage,
  type Page,
  type PageRequest,
  type ThreadProjection,
  usageFields,
  type UsageQuery,
  type UsageRange,
  type UsageRow,
  type UsageTotals,
  type TenantId,
} from '@dormouse/ports';
import { type PipelineStage, Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { isDuplicate, type MongoServer, unordered } from '../mongo-server.ts';

interface UsageDocument extends UsageTotals {
  readonly _id: string;
  readonly tenant: TenantId;
  readonly thread: string;
  readonly day: number;
  readonly agent: string;
  readonly position: number;
}

const usageSchema = new Schema<UsageDocument>(
  {
    ...{ _id: text, tenant: text, thread: text, day: number, agent: text, position: number },
    ...{ inputTokens: number, outputTokens: number, completions: number },
    ...{ toolCalls: number, activeMs: number, waitingMs: number },
  },
  { ...everySchema, collection: 'thread_usage' },
)
  .index({ tenant: 1, day: 1, agent: 1 }, { name: 'usage_by_day' })
  .index({ tenant: 1, thread: -1, day: 1 }, { name: 'usage_by_thread' });

export interface ThreadUsageStore {
  project(projections: readonly ThreadProjection[]): Promise<void>;
  usage(tenant: TenantId, query: UsageQuery, page: PageRequest): Promise<Page<UsageRow>>;
  total(tenant: TenantId, range: UsageRange): Promise<UsageTotals>;
}

const sums = Object.fromEntries(usageFields.map((field) => [field, { $sum: `$${field}` }]));

type Group = UsageTotals & { readonly _id: string | number | null };

export function createThreadUsage(server: MongoServer): ThreadUsageStore {
  const days = server.connection.model<UsageDocument>('ThreadUsage', usageSchema);
  const grouped = (stages: readonly PipelineStage[]): Promise<readonly Group[]> =>
    server.read(() => days.aggregate<Group>([...stages]).exec());

  return {
    async project(projections) {
      const all = projections.flatMap(documentsOf);
      if (all.length === 0) return;
      const insertions = all.map((document) => {
        const { _id, ...fields } = document;
        return { updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true } };
      });
      try {
        await server.write(() => days.bulkWrite(insertions, unordered));
      } catch (error) {
        if (!isDuplicate(error)) throw error; // another process inserted the same day meanwhile
      }
      const updates = all.map(({ _id, tenant: _tenant, thread: _thread, day: _day, position, ...fields }) => ({
        updateOne: { filter: { _id, position: { $lte: position } }, update: { $set: { position, ...fields } } },
      }));
      await server.write(() => days.bulkWrite(updates, unordered)); // (G1)
    },
    async usage(tenant, { fromDay, toDay, groupBy }, { limit, cursor }) {
      const direction = groupBy === 'thread' ? -1 : 1;
      const after = cursor === null ? {} : { [groupBy]: { [direction < 0 ? '$lt' : '$gt']: placeOf(cursor) } };
      const found = await grouped([
        { $match: { $and: [{ tenant, day: { $gte: fromDay, $lt: toDay } }, after] } },
        { $group: { _id: `$${groupBy}`, ...sums } },
        { $sort: { _id: direction } },
        { $limit: limit + 1 },
      ]);
      const data = found.slice(0, limit).map((group) => ({ key: String(group._id), ...totalsOf(group) }));
      const last = found.length > limit ? found[limit - 1] : undefined;
      return { data, nextCursor: last === undefined || last._id === null ? null : encodeCursor([last._id]) };
    },
    async total(tenant, { fromDay, toDay }) {
      const [all] = await grouped([
        { $match: { tenant, day: { $gte: fromDay, $lt: toDay } } },
        { $group: { _id: null, ...sums } },
      ]);
      return all === undefined ? noUsage : totalsOf(all);
    },
  };
}

const documentsOf = ({ tenant, thread, position, usage }: ThreadProjection): readonly UsageDocument[] =>
  (usage?.days ?? []).map(({ day, ...totals }) => ({
    _id: idOf(tenant, thread, day),
    ...{ tenant, thread, day, agent: usage?.agent ?? '', position },
    ...totals,
  }));

const totalsOf = (group: UsageTotals): UsageTotals =>
  Object.fromEntries(usageFields.map((field) => [field, Number(group[field])])) as Record<keyof UsageTotals, number>;

function placeOf(cursor: string): string | number {
  const [key] = decodeCursor(cursor);
  if (typeof key !== 'string' && typeof key !== 'number') throw invalidCursor();
  return key;
}
