// Large payloads by their hash, and the threads that name them. Port: ports/stores/blobs.ts.
//
// Invariants:
//   B1. The thread is stored before its blob, in the same transaction or an earlier one: a removal in between finds the
//       blob named, or the blob is stored again.
import type { Blobs } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

/** No thread has this id, so a blob that it names stays. */
const unnamed = '';

const insertThread = 'INSERT INTO blob_threads (tenant, sha256, thread) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
const insert = 'INSERT INTO blobs (tenant, sha256, media_type, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const removals = ['blobs', 'blob_threads'].map((table) => `DELETE FROM ${table} WHERE tenant = ? AND sha256 = ?`);
const select = 'SELECT bytes, media_type FROM blobs WHERE tenant = ? AND sha256 = ?';

export function createBlobs(writer: GroupWriter, reader: Reader): Blobs {
  return {
    put: async (tenant, sha256, bytes, mediaType, thread = unnamed) => {
      const named = writer.rows('prompt', insertThread, [[tenant, sha256, thread]]); // (B1)
      const stored = writer.rows('prompt', insert, [[tenant, sha256, mediaType, bytes]]);
      const [, changes] = await Promise.all([named, stored]);
      return changes === 1;
    },
    get: async (tenant, sha256) => {
      const row = reader.one<{ bytes: Uint8Array; media_type: string }>(select, tenant, sha256);
      return row && { bytes: row.bytes, mediaType: row.media_type };
    },
    remove: async (tenant, sha256) => {
      for (const sql of removals) await writer.run(sql, tenant, sha256);
    },
  };
}
