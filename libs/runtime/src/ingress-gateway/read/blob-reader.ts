// Payloads that are too large for the log, given to every client that may read the thread. A thread's history begins
// with that of others: their payloads are found as well.
import type { StoredBlob, ThreadKey } from '@dormouse/ports';
import type { IngressParts } from '../ingress-ports.ts';
import { answered, type Answered, notFound } from '../refusal.ts';
import { beginningOf } from './thread-beginning.ts';

export type ReadBlob = (key: ThreadKey, sha256: string) => Promise<Answered<StoredBlob>>;

export type BlobReaderPorts = Pick<IngressParts, 'blobs' | 'log' | 'threads'>;

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
      const { before } = beginningOf(first);
      if (before === null) break;
      thread = before.threadId;
    }
    return notFound('blob');
  };
}
