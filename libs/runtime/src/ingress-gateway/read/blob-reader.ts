// Payloads that are too large for the log, given to every client that may read the thread.
import type { Blobs, ThreadKey } from '@dormouse/ports';
import { answered, type Answered, notFound } from '../refusal.ts';
import type { ThreadLookup } from '../write/thread-lookup.ts';

export interface Blob {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export type ReadBlob = (key: ThreadKey, sha256: string) => Promise<Answered<Blob>>;

export function blobReader(ports: { readonly blobs: Blobs; readonly threads: ThreadLookup }): ReadBlob {
  return async (key, sha256) => {
    const found = await ports.threads.find(key);
    if (!found.ok) return found;
    const blob = await ports.blobs.get(key.tenant, sha256);
    return blob === null ? notFound('blob') : answered(blob);
  };
}
