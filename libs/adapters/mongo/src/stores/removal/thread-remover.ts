// Removes threads, a command for each collection and some threads at a time. Port:
// ports/stores/removal/thread-remover.ts.
//
// Invariants:
//   T1. The row of a thread goes last: a removal that was broken off finds it again. (ports R3)
//   T2. A blob is deleted by a filter that names its empty list of threads: one that another thread names meanwhile
//       stays. (blobs B1)
//   T3. The place of a commit that goes gets a void, and the forward of such a place becomes one: a reader of the
//       tenant's log is not held up by a place that stays empty. One that a broken removal has left empty is filled by
//       the reader that meets it. (commit-places P3, P4; tenant-log T2)
//   T4. No command changes more than `threadsAtOnce` threads, or more than `commitsAtOnce` commits.
import type { Removal, Removed, ThreadKey, ThreadRemover, TenantId } from '@dormouse/ports';
import type { Model } from 'mongoose';
import { idOf, idsBehind } from '../../id-of.ts';
import type { MongoServer } from '../../mongo-server.ts';
import type { BlobDocument } from '../blobs.ts';
import { type CommitDocument, versionRange } from '../../log/commit-document.ts';
import { type CommitPlaces, placeOf } from '../../log/commit-places.ts';
import type { Shards } from '../../log/shards.ts';
import { copyCollections, recordCollections } from './thread-collections.ts';

const threadsAtOnce = 50;
const commitsAtOnce = 200;
const answersOfThreadsAtOnce = 500;

/** The log: its documents, their places, and its shards. */
export interface RemovableLog {
  readonly commits: Model<CommitDocument>;
  readonly places: Pick<CommitPlaces, 'fill'>;
  readonly shards: Shards;
}

export function createThreadRemover(server: MongoServer, log: RemovableLog): ThreadRemover {
  const { commits, places, shards } = log;
  const collection = (name: string) => server.connection.collection(name);

  async function deleteFrom(names: readonly string[], filter: object): Promise<number> {
    let rows = 0;
    for (const name of names) rows += (await server.write(() => collection(name).deleteMany(filter))).deletedCount;
    return rows;
  }

  async function unlabel(rows: object): Promise<number> {
    const { modifiedCount } = await server.write(() =>
      collection('threads').updateMany(rows, {
        $set: { title: null, userId: null, metadata: '{}', labels: [], opening: null },
        $unset: { externalId: '', firstWords: '', waitingOn: '', openCalls: '' },
      }),
    );
    return modifiedCount;
  }

  async function removeBlobs(tenant: TenantId, threads: readonly string[]): Promise<Removed> {
    const blobs = server.connection.collection<BlobDocument>('blobs');
    const named = { _id: idsBehind(tenant), threads: { $in: [...threads] } };
    const found = await server.read(() => blobs.find(named as object, { projection: { _id: 1 } }).toArray());
    let bytes = 0;
    for (const { _id } of found) {
      await server.write(() => blobs.updateOne({ _id }, { $pullAll: { threads: [...threads] } } as object));
      const gone = await server.write(() => blobs.findOneAndDelete({ _id, threads: [] } as object)); // (T2)
      bytes += gone?.bytes.length() ?? 0;
    }
    return { rows: found.length, bytes };
  }

  async function removeCopies(tenant: TenantId, threads: readonly string[]): Promise<Removed> {
    const blobs = await removeBlobs(tenant, threads);
    const derived = await deleteFrom(copyCollections, beginningWith(tenant, threads));
    const asked = { tenant, isOpen: { $in: [true, false] }, thread: { $in: [...threads] } };
    const questions = await deleteFrom(['questions'], asked);
    const details = await server.write(() =>
      collection('claims').updateMany({ ...beginningWith(tenant, threads), detail: { $ne: null } } as object, {
        $set: { detail: null },
      }),
    );
    const rows = blobs.rows + derived + questions + details.modifiedCount + (await unlabel(rowsOf(tenant, threads)));
    return { rows, bytes: blobs.bytes };
  }

  async function removeRest(tenant: TenantId, threads: readonly string[]): Promise<Removed> {
    let removed: Removed = { rows: await deleteFrom(recordCollections, beginningWith(tenant, threads)), bytes: 0 };
    for (const thread of threads) removed = sum(removed, await removeLog({ tenant, thread }));
    const keys = await deleteFrom(['family_keys'], rowsOf(tenant, threads)); // a family is named by its root
    return { ...removed, rows: removed.rows + keys + (await deleteFrom(['threads'], rowsOf(tenant, threads))) }; // (T1)
  }

  /** The oldest commits first. */
  async function removeLog(key: ThreadKey): Promise<Removed> {
    const shard = shards.of(key);
    let removed: Removed = { rows: 0, bytes: 0 };
    for (;;) {
      const found = await server.read(() =>
        commits
          .find(versionRange(key, shard, 0, null))
          .sort({ _id: 1 })
          .limit(commitsAtOnce)
          .lean(),
      );
      if (found.length === 0) return removed;
      const ids = found.map(({ _id }) => _id);
      await server.write(() => commits.deleteMany({ shard, _id: { $in: ids } }));
      await vacate(found);
      const bytes = found.reduce((size, { body }) => size + body.length, 0);
      removed = sum(removed, { rows: found.length, bytes });
    }
  }

  /** (T3) */
  async function vacate(gone: readonly CommitDocument[]): Promise<void> {
    for (const [shard, documents] of Map.groupBy(gone, (document) => placeOf(document)?.shard ?? null)) {
      if (shard === null) continue;
      const empty: number[] = [];
      for (const document of documents) {
        const place = placeOf(document)?.place ?? 0;
        if (document.shard === shard) empty.push(place);
        else await voidForward(document.tenant, shard, place);
      }
      const [first] = documents;
      if (first !== undefined && empty.length > 0) await places.fill({ tenant: first.tenant, shard }, empty);
    }
  }

  async function voidForward(tenant: TenantId, shard: number, place: number): Promise<void> {
    const forward = { shard, _id: idOf(tenant, shard, place) };
    await server.write(() => commits.updateOne(forward, { $set: { thread: '', version: 0 } }));
  }

  async function removeAnswers(tenant: TenantId, threads: readonly string[]): Promise<number> {
    let rows = 0;
    for (let from = 0; from < threads.length; from += answersOfThreadsAtOnce) {
      const some = threads.slice(from, from + answersOfThreadsAtOnce).map(escaped);
      const naming = { $regex: `"(?:${some.join('|')})"` };
      rows += await deleteFrom(['idempotency'], { _id: idsBehind(tenant), 'answer.body': naming });
    }
    return rows;
  }

  async function removeSome(tenant: TenantId, threads: readonly string[], what: Removal): Promise<Removed> {
    const copies = await removeCopies(tenant, threads);
    return what === 'copies' ? copies : sum(copies, await removeRest(tenant, threads));
  }

  return {
    remove: async (tenant, threads, what) => {
      let removed: Removed = { rows: await removeAnswers(tenant, threads), bytes: 0 };
      for (let from = 0; from < threads.length; from += threadsAtOnce)
        removed = sum(removed, await removeSome(tenant, threads.slice(from, from + threadsAtOnce), what));
      return removed;
    },
  };
}

const escaped = (thread: string): string => thread.replaceAll(/[^\w-]/g, String.raw`\$&`);

const sum = (one: Removed, other: Removed): Removed => ({
  rows: one.rows + other.rows,
  bytes: one.bytes + other.bytes,
});

/** Documents whose `_id` is of one of the threads, or begins with it. */
const beginningWith = (tenant: TenantId, threads: readonly string[]): object => ({
  $or: [
    { _id: { $in: threads.map((thread) => idOf(tenant, thread)) } },
    ...threads.map((thread) => ({ _id: idsBehind(tenant, thread) })),
  ],
});

const rowsOf = (tenant: TenantId, threads: readonly string[]): object => ({
  tenant,
  _id: { $in: threads.map((thread) => idOf(tenant, thread)) },
});
