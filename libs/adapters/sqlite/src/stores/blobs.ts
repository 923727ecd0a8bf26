// Large payloads by their hash. Port: ports/blobs.ts.
import type { Blobs } from '@dormouse/ports';
import type { Reader } from '../file/database.ts';
import type { GroupWriter } from '../writer/group-writer.ts';

const insert = 'INSERT INTO blobs (tenant, sha256, media_type, bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';
const select = 'SELECT bytes, media_type FROM blobs WHERE tenant = ? AND sha256 = ?';

export function createBlobs(writer: GroupWriter, reader: Reader): Blobs {
  return {
    put: async (tenant, sha256, bytes, mediaType) =>
      (await writer.rows('prompt', insert, [[tenant, sha256, mediaType, bytes]])) === 1,
    get: async (tenant, sha256) => {
      const row = reader.one<{ bytes: Uint8Array; media_type: string }>(select, tenant, sha256);
      return row && { bytes: row.bytes, mediaType: row.media_type };
    },
  };
}
