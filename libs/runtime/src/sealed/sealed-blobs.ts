// Large payloads, sealed with the key of the family whose threads name them.
//
// Invariants:
//   B1. The same bytes of two families are stored twice, each under its hash and its family.
//   B2. What belongs to no thread yet, as the payloads of an import do, has a key of its own. A thread finds it too,
//       and what earlier releases have stored for all threads of a tenant.
import type { Blobs, StoredBlob, TenantId } from '@dormouse/ports';
import type { Place } from './content-seal.ts';
import type { SealingDeps } from './sealed-copies.ts';

/** In place of a family. (B2) */
const noFamily = 'none';

/** The name under which a family's payload is stored. (B1) */
const blobNameOf = (sha256: string, family: string): string => `${sha256}/${family}`;

export function sealedBlobs(blobs: Blobs, { seal, families }: SealingDeps): Blobs {
  const placeOf = (sha256: string): Place => ['blob', sha256];

  async function opened(tenant: TenantId, sha256: string, name: string): Promise<StoredBlob | null> {
    const stored = await blobs.get(tenant, name);
    const bytes = stored && (await seal.openBytes(tenant, placeOf(sha256), stored.bytes));
    return stored === null || bytes === null ? null : { mediaType: stored.mediaType, bytes };
  }

  return {
    async put(tenant, sha256, bytes, mediaType, thread) {
      const family = thread === undefined ? noFamily : await families.of({ tenant, thread });
      const sealed = await seal.sealBytes(tenant, family, placeOf(sha256), bytes);
      return sealed !== null && (await blobs.put(tenant, blobNameOf(sha256, family), sealed, mediaType, thread));
    },
    async get(tenant, sha256, thread) {
      const family = thread === undefined ? noFamily : await families.of({ tenant, thread });
      for (const name of new Set([blobNameOf(sha256, family), blobNameOf(sha256, noFamily), sha256])) {
        const found = await opened(tenant, sha256, name);
        if (found !== null) return found;
      }
      return null;
    },
    /** What belongs to no family. */
    async remove(tenant, sha256) {
      for (const name of [blobNameOf(sha256, noFamily), sha256]) await blobs.remove(tenant, name);
    },
  };
}
