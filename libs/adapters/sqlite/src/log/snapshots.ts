// The newest snapshot of each thread. Port: ports/log/snapshots.ts. May be lost at any moment. I-17
import type { Snapshots } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

// The newest snapshot stays; one of another shape is of no use to this release and is replaced.
const upsert =
  'INSERT INTO snapshots (tenant, thread, version, shape, state) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE ' +
  'SET version = excluded.version, shape = excluded.shape, state = excluded.state ' +
  'WHERE excluded.version >= version OR excluded.shape <> shape';
const select = 'SELECT version, shape, state FROM snapshots WHERE tenant = ? AND thread = ?';

export function createSnapshots(writer: GroupWriter, reader: Reader): Snapshots {
  return {
    latest: async (key) => {
      const row = reader.one<{ version: number; shape: number; state: string }>(select, key.tenant, key.thread);
      return row && { version: row.version, shape: row.shape, state: row.state };
    },
    put: async (key, { version, shape, state }) => {
      await writer.rows('lazy', upsert, [[key.tenant, key.thread, version, shape, state]]);
    },
  };
}
