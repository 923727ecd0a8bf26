// Threads at rest: documents of `threads`. Contract: ports/stores/removal/resting-threads.ts.
import type { RestingRoot, RestingThread, RestingThreads, ThreadRow, TenantId } from '@dormouse/ports';
import { idOf } from '../../id-of.ts';
import type { MongoServer } from '../../mongo-server.ts';

type Row = Pick<ThreadRow, 'thread' | 'status' | 'updatedAt' | 'leavingAt'>;

/** Of a thread that was forked from no other; a document without the field does not say. */
const notForked = '';
/** A fork is rare; the rest of more of them is found when these have been told. */
const forksMax = 10_000;

const fields = { _id: 0, thread: 1, status: 1, updatedAt: 1, leavingAt: 1 } as const;

export function createRestingThreads(server: MongoServer): RestingThreads {
  const threads = () => server.connection.collection<Row>('threads');
  const find = (filter: object, order: Readonly<Record<string, 1>>, limit: number): Promise<Row[]> =>
    server.read(() => threads().find(filter, { projection: fields }).sort(order).limit(limit).toArray()) as Promise<
      Row[]
    >;
  const rowOf = (tenant: TenantId, thread: string): object => ({ _id: idOf(tenant, thread), tenant });

  return {
    roots: async (tenant, wanted, after, limit) => {
      const filter =
        wanted === 'leaving'
          ? { leavingAt: { $exists: true } }
          : {
              status: { $in: ['idle', 'closed'] },
              subscriptions: { $exists: false },
              updatedAt: { $lt: wanted.before },
            };
      const found = await find(
        { $and: [{ tenant, parent: null, ...filter }, behind(after)] },
        { updatedAt: 1, thread: 1 },
        limit,
      );
      return found.map(({ thread, updatedAt }): RestingRoot => ({ thread, updatedAt }));
    },
    family: async (tenant, family, after, limit) => {
      const found = await find({ tenant, family, thread: { $gt: after ?? '' } }, { thread: 1 }, limit);
      return found.map(({ thread, status, updatedAt, leavingAt = null }): RestingThread => ({
        ...{ thread, status, updatedAt, leavingAt },
      }));
    },
    areForkedFrom: async (tenant, some, family) => {
      const filter = { tenant, forkedFrom: { $in: [...some] }, family: { $ne: family } };
      return (await find(filter, { thread: 1 }, 1)).length > 0;
    },
    forksOf: async (tenant, some) => {
      const found = await find({ tenant, forkedFrom: { $in: [...some] } }, { thread: 1 }, forksMax);
      return found.map(({ thread }) => thread);
    },
    leave: async (tenant, some, at) => {
      const change = at === null ? { $unset: { leavingAt: '' } } : { $set: { leavingAt: at } };
      const rows = { tenant, _id: { $in: some.map((thread) => idOf(tenant, thread)) } };
      await server.write(() => threads().updateMany(rows as object, change as object));
    },
    unplaced: async (tenant, limit) => {
      const found = await find({ tenant, forkedFrom: { $exists: false }, parent: null }, { thread: 1 }, limit);
      return found.map(({ thread }) => thread);
    },
    place: async (tenant, thread, forkedFrom) => {
      const change = { $set: { forkedFrom: forkedFrom ?? notForked } };
      await server.write(() => threads().updateOne(rowOf(tenant, thread), change as object));
    },
  };
}

function behind(after: RestingRoot | null): object {
  if (after === null) return {};
  const { updatedAt, thread } = after;
  return { $or: [{ updatedAt: { $gt: updatedAt } }, { updatedAt, thread: { $gt: thread } }] };
}
