// Large payloads in memory, by tenant and hash.
import type { Blobs } from '@dormouse/ports';
import type { Passage } from '../gate.ts';

interface StoredBlob {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** Those that its puts have named; `unnamed` for a put that has named none. (blobs B1) */
  readonly threads: Set<string>;
}

export type BlobStore = Map<string, StoredBlob>;

/** No thread has this id, so it is never removed. */
const unnamed = '';

export function createBlobs(blobs: BlobStore, passage: Passage): Blobs {
  return {
    put: (tenant, sha256, bytes, mediaType, thread = unnamed) =>
      passage.write('blobs.put', sha256, () => {
        const known = blobs.get(`${tenant}:${sha256}`);
        known?.threads.add(thread);
        if (known === undefined)
          blobs.set(`${tenant}:${sha256}`, { bytes: Uint8Array.from(bytes), mediaType, threads: new Set([thread]) });
        return known === undefined;
      }),
    remove: (tenant, sha256) => passage.write('blobs.remove', sha256, () => void blobs.delete(`${tenant}:${sha256}`)),
    get: (tenant, sha256) =>
      passage.read('blobs.get', sha256, () => {
        const known = blobs.get(`${tenant}:${sha256}`);
        return known === undefined ? null : { bytes: known.bytes, mediaType: known.mediaType };
      }),
  };
}
