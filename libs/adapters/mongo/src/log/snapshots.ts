// The newest snapshot of each thread. Port: ports/log/snapshots.ts. May be lost at any moment. I-17
import type { Snapshot, Snapshots } from '@dormouse/ports';
import { Schema } from 'mongoose';
import { everySchema, number, text } from '../document-shape.ts';
import { findById } from '../find-by-id.ts';
import { idOf } from '../id-of.ts';
import { type MongoServer, upserted } from '../mongo-server.ts';

interface SnapshotDocument extends Snapshot {
  readonly _id: string;
}

const snapshotSchema = new Schema<SnapshotDocument>(
  { _id: text, version: number, shape: number, state: text },
  { ...everySchema, collection: 'snapshots' },
);

/** Most are some kilobytes, few a megabyte. */
const snapshotsAtOnceMax = 32;

export function createSnapshots(server: MongoServer): Snapshots {
  const snapshots = server.connection.model<SnapshotDocument>('Snapshot', snapshotSchema);
  const find = findById(server, snapshots, snapshotsAtOnceMax);
  return {
    latest: async (key) => {
      const found = await find(idOf(key.tenant, key.thread));
      return found && { version: found.version, shape: found.shape, state: found.state };
    },
    put: async (key, { version, shape, state }) => {
      const _id = idOf(key.tenant, key.thread);
      // A snapshot of another shape is of no use to this release and is replaced.
      const older = { _id, $or: [{ version: { $lte: version } }, { shape: { $ne: shape } }] };
      const update = { $set: { version, shape, state } };
      await upserted(server, (options) => snapshots.updateOne(older, update, options)); // another is older or newer
    },
  };
}
