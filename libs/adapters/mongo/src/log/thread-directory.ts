// Summaries of threads for lists, in `threads`. Port: ports/log/thread-directory.ts. The log is the truth; rows may
// lag.
//
// Invariants:
//   Y1. A row moves forward only: a projection of an older position changes nothing.
//   Y2. Every filter has an index that ends in (createdAt, thread), the order of the list, newest first.
//   Y3. Names and values of metadata are stored as values, `labels`, never as names of fields.
//   Y4. A census counts by the index of statuses; the oldest waits are the first of their indexes. The oldest calls are
//       those of the `threadsForCallsMax` threads that have waited longest for a tool: beyond them a tool server whose
//       calls are all younger has none.
//   Y5. The oldest call at a tool server costs a read of the threads that have one open there: operators ask for it, no
//       path does.
//   Y6. Every filter names the tenant, but those of what speaks for all tenants (openings, census): the collection is
//       sharded by it. (sharding.ts)
import {
  type OldestWaits,
  type OpenCall,
  type OpenOfTenant,
  pageOf,
  type TenantId,
  type ThreadCensus,
  type ThreadDirectory,
  type ThreadFilter,
  type ThreadProjection,
  type ThreadRow,
} from '@dormouse/ports';
import { threadStatuses, threadWaitKinds } from '@dormouse/ports';
import { type Model, type PipelineStage, type QueryFilter, Schema, type UpdateQuery } from 'mongoose';
import { everySchema, number, text, textOrNull } from '../document-shape.ts';
import { idOf } from '../id-of.ts';
import { inserted, type MongoServer, unordered } from '../mongo-server.ts';
import { behindCursor } from '../behind-cursor.ts';
import { createThreadUsage } from './thread-usage.ts';

interface ThreadDocument extends Omit<ThreadRow, 'externalId' | 'metadata' | 'opening' | 'waitingOn'> {
  readonly _id: string;
  /** Absent when there is none: the unique index is partial. */
  readonly externalId?: string;
  readonly metadata: string;
  readonly labels: readonly string[];
  readonly opening: string | null;
  /** Absent where nothing waits: its indexes are partial. */
  readonly waits?: OldestWaits;
  readonly subscriptions?: number;
  readonly openCalls?: readonly OpenCall[];
  /** JSON; absent where nothing waits. */
  readonly waitingOn?: string;
}

const threadSchema = new Schema<ThreadDocument>(
  {
    ...{ _id: text, tenant: text, thread: text, status: text, agent: text, agentVersion: number, parent: textOrNull },
    ...{ family: text, userId: textOrNull, externalId: String, title: textOrNull, metadata: text },
    labels: { type: [String], required: true },
    ...{ createdAt: number, updatedAt: number, position: number, opening: textOrNull },
    waits: Object.fromEntries(threadWaitKinds.map((kind) => [kind, Number])),
    subscriptions: Number,
    openCalls: { type: [{ _id: false, toolServer: text, toolCallId: text, since: number }], default: undefined },
    firstWords: String,
    waitingOn: String,
    // Absent in documents of earlier releases; '' for a thread that was forked from no other.
    forkedFrom: String,
    leavingAt: Number,
  },
  { ...everySchema, collection: 'threads' },
);
// Serves only queries that contain its condition. (indexes.ts, X2)
const withExternalId = { externalId: { $exists: true } };
threadSchema.index(
  { tenant: 1, externalId: 1 },
  { name: 'external_id_once', unique: true, partialFilterExpression: withExternalId },
);
const listOrder = { createdAt: -1, thread: -1 } as const;
const oldestFirst = { createdAt: 1, thread: 1 } as const;
threadSchema.index({ tenant: 1, ...listOrder }, { name: 'newest' });
threadSchema.index({ tenant: 1, ...listOrder, updatedAt: -1 }, { name: 'newest_updated' });
threadSchema.index({ tenant: 1, status: 1, ...listOrder }, { name: 'by_status' });
threadSchema.index({ tenant: 1, agent: 1, ...listOrder }, { name: 'by_agent' });
threadSchema.index({ tenant: 1, parent: 1, ...listOrder }, { name: 'by_parent' });
threadSchema.index({ tenant: 1, userId: 1, ...listOrder }, { name: 'by_user' });
threadSchema.index({ tenant: 1, labels: 1, ...listOrder }, { name: 'by_label' });
threadSchema.index({ status: 1, createdAt: 1 }, { name: 'openings' });
/** An index of the documents that have a field. */
const indexExisting = (name: string, field: string): void => {
  threadSchema.index({ [field]: 1 }, { name, partialFilterExpression: { [field]: { $exists: true } } });
};
for (const kind of threadWaitKinds) indexExisting(`since_${kind}`, `waits.${kind}`);
// Those of retention do not begin with the tenant: a list that used one would have to sort what it finds.
threadSchema.index({ status: 1, tenant: 1, updatedAt: 1, thread: 1 }, { name: 'at_rest' });
threadSchema.index(
  { tenant: 1, updatedAt: 1, thread: 1 },
  { name: 'leaving', partialFilterExpression: { leavingAt: { $exists: true } } },
);
threadSchema.index({ family: 1, tenant: 1, thread: 1 }, { name: 'by_family' });
threadSchema.index({ forkedFrom: 1, tenant: 1 }, { name: 'by_fork' });
indexExisting('subscribed', 'subscriptions');
threadSchema.index(
  { tenant: 1, status: 1, subscriptions: 1 },
  { name: 'subscribed_of_tenant', partialFilterExpression: { subscriptions: { $exists: true } } },
);
threadSchema.index(
  { tenant: 1, 'openCalls.toolServer': 1 },
  { name: 'open_calls', partialFilterExpression: { openCalls: { $exists: true } } },
);

export function createThreadDirectory(server: MongoServer): ThreadDirectory {
  const threads = server.connection.model<ThreadDocument>('Thread', threadSchema);
  const days = createThreadUsage(server);

  const find = async (filter: QueryFilter<ThreadDocument>): Promise<ThreadRow | null> => {
    const found = await server.read(() => threads.findOne(filter).lean());
    return found && rowOf(found);
  };

  return {
    insert: async (row) => {
      const { tenant, thread, externalId } = row;
      if (await inserted(server, threads, documentOf(row))) return { inserted: true };
      const sameThread = await find({ _id: idOf(tenant, thread), tenant });
      const existing = sameThread ?? (externalId === null ? null : await find({ tenant, externalId }));
      if (existing === null) throw new Error(`thread ${thread} was refused by nobody`);
      return { inserted: false, existing };
    },
    get: ({ tenant, thread }) => find({ _id: idOf(tenant, thread), tenant }),
    list: async (tenant, filter, page) => {
      const isRising = filter.order === 'asc';
      const behind = behindCursor(page, ['createdAt', 'thread'], isRising ? '$gt' : '$lt');
      const found = await server.read(() =>
        threads
          .find({ $and: [{ tenant, ...conditionsOf(filter) }, ...statusOf(filter), behind] })
          .sort(isRising ? oldestFirst : listOrder)
          .limit(page.limit + 1)
          .lean(),
      );
      return pageOf(found.map(rowOf), page, ({ createdAt, thread }) => [createdAt, thread]);
    },
    patch: async (key, { title, metadata, firstWords }) => {
      const fields: Partial<ThreadDocument> = {
        ...(title === undefined ? {} : { title }),
        ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata), labels: labelsOf(metadata) }),
      };
      const row = { _id: idOf(key.tenant, key.thread), tenant: key.tenant };
      if (Object.keys(fields).length > 0) await server.write(() => threads.updateOne(row, { $set: fields }));
      if (firstWords === null) await server.write(() => threads.updateOne(row, { $unset: { firstWords: 1 } }));
      return find(row);
    },
    releaseExternalId: async ({ tenant, thread }, externalId) => {
      const row = { _id: idOf(tenant, thread), tenant, externalId };
      await server.write(() => threads.updateOne(row, { $unset: { externalId: 1 } }));
    },
    project: async (projections) => {
      if (projections.length === 0) return;
      const updates = projections.flatMap(projecting).map((updateOne) => ({ updateOne }));
      await Promise.all([server.write(() => threads.bulkWrite(updates, unordered)), days.project(projections)]);
    },
    stuckOpenings: async (before, limit) => {
      const found = await server.read(() =>
        threads
          .find({ status: 'opening', createdAt: { $lt: before } })
          .sort({ createdAt: 1 })
          .limit(limit)
          .lean(),
      );
      return found.map(rowOf);
    },
    usesAgent: async (tenant, agent) =>
      (await server.read(() => threads.findOne({ tenant, agent, status: { $ne: 'closed' } }).lean())) !== null,
    usage: (tenant, query, page) => days.usage(tenant, query, page),
    usageTotal: (tenant, range) => days.total(tenant, range),
    census: () => censusOf(server, threads),
    openOf: (tenant) => openOf(server, threads, tenant),
    oldestCall: (tenant, toolServer) => oldestCallOf(server, threads, tenant, toolServer),
  };
}

async function openOf(server: MongoServer, threads: Model<ThreadDocument>, tenant: TenantId): Promise<OpenOfTenant> {
  const open = { tenant, status: { $in: threadStatuses.filter((status) => status !== 'closed') } };
  const sums = server.read(() =>
    threads
      .aggregate<Pick<OpenOfTenant, 'subscriptions'>>([
        { $match: { ...open, subscriptions: { $exists: true } } },
        { $group: { _id: null, subscriptions: { $sum: '$subscriptions' } } },
      ])
      .exec(),
  );
  const count = server.read(() => threads.countDocuments(open));
  const [[sum], total] = await Promise.all([sums, count]);
  return { threads: total, subscriptions: Number(sum?.subscriptions ?? 0) };
}

/** (Y5) */
async function oldestCallOf(
  server: MongoServer,
  threads: Model<ThreadDocument>,
  tenant: TenantId,
  toolServer: string,
): Promise<OpenCall | null> {
  const at = { 'openCalls.toolServer': toolServer };
  const [found] = await server.read(() =>
    threads
      .aggregate<Pick<OpenCall, 'toolCallId' | 'since'>>([
        { $match: { tenant, openCalls: { $exists: true }, ...at } },
        { $unwind: '$openCalls' },
        { $match: at },
        { $sort: { 'openCalls.since': 1 } },
        { $limit: 1 },
        { $project: { _id: 0, toolCallId: '$openCalls.toolCallId', since: '$openCalls.since' } },
      ])
      .exec(),
  );
  return found === undefined ? null : { toolServer, toolCallId: found.toolCallId, since: found.since };
}

/** (Y4) */
async function censusOf(server: MongoServer, threads: Model<ThreadDocument>): Promise<ThreadCensus> {
  const counts = threadStatuses.map(
    async (status) => [status, await server.read(() => threads.countDocuments({ status }))] as const,
  );
  const firsts = threadWaitKinds.map(async (kind) => {
    const name = `waits.${kind}`;
    const first = await server.read(() =>
      threads
        .findOne({ [name]: { $exists: true } })
        .sort({ [name]: 1 })
        .lean(),
    );
    const since = first?.waits?.[kind];
    return since === undefined ? [] : [[kind, since] as const];
  });
  const calls = server.read(() => threads.aggregate<ThreadCensus['calls'][number]>(oldestCalls).exec());
  const subscribed = server.read(() => threads.find({ subscriptions: { $exists: true } }).lean());
  return {
    threads: Object.fromEntries(await Promise.all(counts)) as ThreadCensus['threads'],
    oldest: Object.fromEntries((await Promise.all(firsts)).flat()),
    subscriptions: (await subscribed).reduce((sum, { subscriptions = 0 }) => sum + subscriptions, 0),
    calls: await calls,
  };
}

const threadsForCallsMax = 10_000;
/** (Y4) */
const oldestCalls: PipelineStage[] = [
  { $match: { 'waits.tool_call': { $exists: true } } },
  { $sort: { 'waits.tool_call': 1 } },
  { $limit: threadsForCallsMax },
  { $project: { openCalls: 1 } },
  { $unwind: '$openCalls' },
  { $group: { _id: '$openCalls.toolServer', since: { $min: '$openCalls.since' } } },
  { $project: { _id: 0, toolServer: '$_id', since: 1 } },
];

interface RowUpdate {
  readonly filter: QueryFilter<ThreadDocument>;
  readonly update: UpdateQuery<ThreadDocument>;
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
  waits,
  waitingOn,
  firstWords,
}: ThreadProjection): readonly RowUpdate[] {
  const row = { _id: idOf(tenant, thread), tenant }; // (Y6)
  const fields = { status, updatedAt, position, ...(position > 0 ? { opening: null } : {}) };
  const open = waits === undefined ? {} : openFields(waits, waitingOn);
  const named =
    firstWords === undefined || firstWords === null
      ? []
      : [{ filter: { ...row, firstWords: { $exists: false } }, update: { $set: { firstWords } } }];
  const upTo = {
    filter: { ...row, position: { $lte: position } },
    update: { $set: { ...fields, ...open.$set }, ...unset(open) },
  };
  if (title === null) return [upTo, ...named];
  const titled = { $set: { ...fields, ...open.$set, title }, ...unset(open) };
  if (titledAt === undefined) return [{ ...upTo, update: titled }, ...named];
  return [
    ...named,
    { filter: { ...row, position: { $lt: Math.min(titledAt, position + 1) } }, update: titled },
    { filter: { ...row, position: { $gte: titledAt, $lte: position } }, update: upTo.update },
  ];
}

type OpenField = 'waits' | 'subscriptions' | 'openCalls' | 'waitingOn';

interface OpenFields {
  readonly $set?: Partial<Pick<ThreadDocument, OpenField>>;
  readonly $unset?: Readonly<Partial<Record<OpenField, ''>>>;
}

/** A field is there only where something is open. */
function openFields(
  { oldest, subscriptions, calls = [] }: NonNullable<ThreadProjection['waits']>,
  waitingOn: ThreadRow['waitingOn'] = [],
): OpenFields {
  const isWaiting = Object.keys(oldest).length > 0;
  const hasCalls = calls.length > 0;
  const isNamed = waitingOn.length > 0;
  return {
    $set: {
      ...(isWaiting ? { waits: oldest } : {}),
      ...(subscriptions > 0 ? { subscriptions } : {}),
      ...(hasCalls ? { openCalls: calls } : {}),
      ...(isNamed ? { waitingOn: JSON.stringify(waitingOn) } : {}),
    },
    $unset: {
      ...(isWaiting ? {} : { waits: '' }),
      ...(subscriptions > 0 ? {} : { subscriptions: '' }),
      ...(hasCalls ? {} : { openCalls: '' }),
      ...(isNamed ? {} : { waitingOn: '' }),
    },
  };
}

/** A server refuses an `$unset` of nothing. */
const unset = ({ $unset = {} }: OpenFields): Pick<OpenFields, '$unset'> =>
  Object.keys($unset).length === 0 ? {} : { $unset };

/** (Y3) */
const labelsOf = (metadata: ThreadRow['metadata']): readonly string[] =>
  Object.entries(metadata).map(([name, value]) => idOf(name, value));

function documentOf(row: ThreadRow): ThreadDocument {
  const { externalId, metadata, opening, waitingOn = [], ...same } = row;
  return {
    _id: idOf(row.tenant, row.thread),
    ...same,
    ...(externalId === null ? {} : { externalId }),
    metadata: JSON.stringify(metadata),
    labels: labelsOf(metadata),
    opening: opening && JSON.stringify(opening),
    ...(waitingOn.length === 0 ? {} : { waitingOn: JSON.stringify(waitingOn) }),
    forkedFrom: row.forkedFrom ?? '',
  };
}

function rowOf(document: ThreadDocument): ThreadRow {
  const {
    _id,
    labels: _labels,
    waits: _waits,
    subscriptions: _open,
    openCalls: _calls,
    externalId,
    metadata,
    opening,
    waitingOn,
    forkedFrom = '',
    ...same
  } = document;
  return {
    ...same,
    externalId: externalId ?? null,
    metadata: JSON.parse(metadata) as ThreadRow['metadata'],
    opening: opening === null ? null : (JSON.parse(opening) as ThreadRow['opening']),
    ...(waitingOn === undefined ? {} : { waitingOn: JSON.parse(waitingOn) as ThreadRow['waitingOn'] }),
    ...(forkedFrom === '' ? {} : { forkedFrom }),
  };
}

function statusOf({ status, waitingBelow = [] }: ThreadFilter): readonly QueryFilter<ThreadDocument>[] {
  if (status === undefined) return [];
  if (waitingBelow.length === 0) return [{ status }];
  if (status === 'idle') return [{ status, thread: { $nin: [...waitingBelow] } }];
  if (status === 'waiting') return [{ $or: [{ status }, { status: 'idle', thread: { $in: [...waitingBelow] } }] }];
  return [{ status }];
}

function conditionsOf(filter: ThreadFilter): QueryFilter<ThreadDocument> {
  const { agent, agents, parent, userId, externalId, metadata, createdAfter, updatedAfter } = filter;
  const equal = Object.entries({ agent, parent, userId, externalId }).filter(([, value]) => value !== undefined);
  const labels = labelsOf(metadata ?? {});
  return {
    ...Object.fromEntries(equal),
    ...(agents === undefined ? {} : { $and: [{ agent: { $in: [...agents] } }] }),
    ...(labels.length === 0 ? {} : { labels: { $all: labels } }),
    ...(createdAfter === undefined ? {} : { createdAt: { $gt: createdAfter } }),
    ...(updatedAfter === undefined ? {} : { updatedAt: { $gt: updatedAfter } }),
  };
}
