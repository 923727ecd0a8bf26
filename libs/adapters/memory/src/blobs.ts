// Large payloads in memory, by tenant and hash.
import type { Blobs } from '@dormouse/ports';
import type { Passage } from './gate.ts';

export type BlobStore = Map<string, { readonly bytes: Uint8Array; readonly mediaType: string }>;

export function createBlobs(blobs: BlobStore, passage: Passage): Blobs {
  return {
    put: (tenant, sha256, bytes, mediaType) =>
      passage.write('blobs.put', sha256, () => {
        const isNew = !blobs.has(`${tenant}:${sha256}`);
        blobs.set(`${tenant}:${sha256}`, { bytes: Uint8Array.from(bytes), mediaType });
        return isNew;
      }),
    get: (tenant, sha256) => passage.read('blobs.get', sha256, () => blobs.get(`${tenant}:${sha256}`) ?? null),
  };
}
