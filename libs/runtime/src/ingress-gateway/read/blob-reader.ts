// Payloads that are too large for the log, given to every client that may read the thread. A thread's history begins
// with that of others: their payloads are found as well.
import type { Blobs, StoredBlob, ThreadKey, ThreadLog } from '@dormouse/ports';
import { answered, type Answered, notFound } from '../refusal.ts';
import { beginningOf } from './thread-beginning.ts';
import type { ThreadLookup } from '../write/thread-lookup.ts';

export type ReadBlob = (key: ThreadKey, sha256: string) => Promise<Answered<StoredBlob>>;

export interface BlobReaderPorts {
  readonly blobs: Blobs;
  readonly log: Pick<ThreadLog, 'read'>;
  readonly threads: ThreadLookup;
}

const generationsMax = 100;

export function blobReader({ blobs, log, threads }: BlobReaderPorts): ReadBlob {
  return async (key, sha256) => {
    const found = await threads.find(key);
    if (!found.ok) return found;
    const { tenant } = key;
    let thread = key.thread;
    for (let generation = 0; generation < generationsMax; generation += 1) {
      const blob = await blobs.get(tenant, sha256, thread);
      if (blob !== null) return answered(blob);
      const [first] = await log.read({ tenant, thread }, 0, 1);
      const { parent, forkedFrom } = beginningOf(first);
      const before = parent ?? forkedFrom;
      if (before === null) break;
      thread = before.threadId;
    }
    return notFound('blob');
  };
}
