// Summaries of threads for lists, in `threads`. Port: ports/thread-directory.ts. The log is the truth; rows may lag.
//
// Invariants:
//   Y1. A row moves forward only: a projection of an older position changes nothing.
//   Y2. Every filter has an index that ends in (createdAt, thread), the order of the list, newest first.
//   Y3. Names and values of metadata are stored as values, `labels`, never as names of fields.
import type { Page, PageRequest, ThreadDirectory, ThreadFilter, ThreadProjection, ThreadRow } from '@dormouse/ports';
import { decodeCursor, encodeCursor, invalidCursor } from '@dormouse/ports';
import type { mongo } from 'mongoose';
import { idOf } from '../id-of.ts';
import { isDuplicate, type MongoServer } from '../mongo-server.ts';

interface ThreadDocument extends Omit<ThreadRow, 'externalId' | 'metadata' | 'opening'> {
  readonly _id: string;
  /** Absent when there is none: the unique index is partial. */
  readonly externalId?: string;
  readonly metadata: string;
  readonly labels: readonly string[];
  readonly opening: string | null;
}

export function createThreadDirectory(server: MongoServer): ThreadDirectory {
  const threads = server.collection<ThreadDocument>('threads');

  const find = async (filter: mongo.Filter<ThreadDocument>): Promise<ThreadRow | null> => {
    const found = await server.read(() => threads.findOne(filter));
    return found && rowOf(found);
  };

  return {
    insert: async (row) => {
      const { tenant, thread, externalId } = row;
      try {
        await server.write(() => threads.insertOne(documentOf(row)));
        return { inserted: true };
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
      const sameThread = await find({ _id: idOf(tenant, thread) });
      const existing = sameThread ?? (externalId === null ? null : await find({ tenant, externalId }));
      if (existing === null) throw new Error(`thread ${thread} was refused by nobody`);
      return { inserted: false, existing };
    },
    get: (key) => find({ _id: idOf(key.tenant, key.thread) }),
    list: async (tenant, filter, page) => {
      const found = await server.read(() =>
        threads
          .find({ $and: [{ tenant, ...conditionsOf(filter) }, afterCursor(page)] })
          .sort({ createdAt: -1, thread: -1 })
          .limit(page.limit + 1)
          .toArray(),
      );
      return pageOf(found.map(rowOf), page);
    },
    patch: async (key, { title, metadata }) => {
      const fields: Partial<ThreadDocument> = {
        ...(title === undefined ? {} : { title }),
        ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata), labels: labelsOf(metadata) }),
      };
      const _id = idOf(key.tenant, key.thread);
      if (Object.keys(fields).length > 0) await server.write(() => threads.updateOne({ _id }, { $set: fields }));
      return find({ _id });
    },
    project: async (projections) => {
      if (projections.length === 0) return;
      const updates = projections.flatMap(projecting).map((updateOne) => ({ updateOne }));
      await server.write(() => threads.bulkWrite(updates, { ordered: false }));
    },
    stuckOpenings: async (before, limit) => {
      const found = await server.read(() =>
        threads
          .find({ status: 'opening', createdAt: { $lt: before } })
          .sort({ createdAt: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(rowOf);
    },
    usesAgent: async (tenant, agent) =>
      (await server.read(() => threads.findOne({ tenant, agent, status: { $ne: 'closed' } }))) !== null,
  };
}

interface RowUpdate {
  readonly filter: mongo.Filter<ThreadDocument>;
  readonly update: mongo.UpdateFilter<ThreadDocument>;
}

/**
 * A projection without a title, or with a title that the row has had, leaves the title alone; an opening has no effect
 * once the thread is open. The two updates for a projection with a title may run in either order. (Y1)
 */
function projecting({
  tenant,
  thread,
  status,
  title,
  titledAt,
  updatedAt,
  position,
}: ThreadProjection): readonly RowUpdate[] {
  const _id = idOf(tenant, thread);
  const fields = { status, updatedAt, position, ...(position > 0 ? { opening: null } : {}) };
  const upTo = { filter: { _id, position: { $lte: position } }, update: { $set: fields } };
  if (title === null) return [upTo];
  const titled = { $set: { ...fields, title } };
  if (titledAt === undefined) return [{ ...upTo, update: titled }];
  return [
    { filter: { _id, position: { $lt: Math.min(titledAt, position + 1) } }, update: titled },
    { filter: { _id, position: { $gte: titledAt, $lte: position } }, update: { $set: fields } },
  ];
}

/** (Y3) */
const labelsOf = (metadata: ThreadRow['metadata']): readonly string[] =>
  Object.entries(metadata).map(([name, value]) => idOf(name, value));

function documentOf(row: ThreadRow): ThreadDocument {
  const { externalId, metadata, opening, ...same } = row;
  return {
    _id: idOf(row.tenant, row.thread),
    ...same,
    ...(externalId === null ? {} : { externalId }),
    metadata: JSON.stringify(metadata),
    labels: labelsOf(metadata),
    opening: opening && JSON.stringify(opening),
  };
}

function rowOf({ _id, labels: _labels, externalId, metadata, opening, ...same }: ThreadDocument): ThreadRow {
  return {
    ...same,
    externalId: externalId ?? null,
    metadata: JSON.parse(metadata) as ThreadRow['metadata'],
    opening: opening === null ? null : (JSON.parse(opening) as ThreadRow['opening']),
  };
}

function conditionsOf(filter: ThreadFilter): mongo.Filter<ThreadDocument> {
  const { status, agent, parent, userId, externalId, metadata, createdAfter } = filter;
  const equal = Object.entries({ status, agent, parent, userId, externalId }).filter(
    ([, value]) => value !== undefined,
  );
  const labels = labelsOf(metadata ?? {});
  return {
    ...Object.fromEntries(equal),
    ...(labels.length === 0 ? {} : { labels: { $all: labels } }),
    ...(createdAfter === undefined ? {} : { createdAt: { $gt: createdAfter } }),
  };
}

function afterCursor({ cursor }: PageRequest): mongo.Filter<ThreadDocument> {
  if (cursor === null) return {};
  const [createdAt, thread] = decodeCursor(cursor);
  if (typeof createdAt !== 'number' || typeof thread !== 'string') throw invalidCursor();
  return { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, thread: { $lt: thread } }] };
}

function pageOf(rows: readonly ThreadRow[], { limit }: PageRequest): Page<ThreadRow> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: rows.length > limit && last ? encodeCursor([last.createdAt, last.thread]) : null };
}
