// Erasures of contents, each with the state of its work and, when it is done, its certificate.
//
// Contract (contracts/erasures.contract.ts):
//   E1. An erasure is inserted once: of several inserts of one id the first stays, and the others get it.
//   E2. `replace` changes an erasure only where the one that was read is still stored.
//   E3. A list is of one tenant, the newest first; ids decide between those of one time.
import type { TenantId } from '@dormouse/thread';
import type { Page, PageRequest } from '../registry/registry.ts';

export type ErasureScope = 'thread' | 'family' | 'user';

export interface ErasureRecord {
  readonly tenant: TenantId;
  readonly id: string;
  readonly scope: ErasureScope;
  /** A thread's id; of a user `hmac:` and a keyed hash of the user's id. */
  readonly subject: string;
  /** The user's id, sealed, as long as it is needed; null then, and for a thread. */
  readonly sealedUser: string | null;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** When the keys were destroyed; null before. */
  readonly keysErasedAt: number | null;
  /** Roots of the families, or threads below them, whose contents are erased. */
  readonly families: readonly string[];
  readonly threads: number;
  /** Whether a content of it was stored in the clear; false until the keys are destroyed. */
  readonly wasClear: boolean;
  /** JSON; null until it is done. */
  readonly certificate: string | null;
}

export interface Erasures {
  /** Resolves, when durable, with what is stored under the id. (E1) */
  insert(erasure: ErasureRecord): Promise<ErasureRecord>;
  get(tenant: TenantId, id: string): Promise<ErasureRecord | null>;
  /** (E3) */
  list(tenant: TenantId, page: PageRequest): Promise<Page<ErasureRecord>>;
  /** Only where `seen` is what is stored; false otherwise. (E2) */
  replace(erasure: ErasureRecord, seen: ErasureRecord): Promise<boolean>;
  /** Of any tenant, those that are not done, oldest first. */
  running(limit: number): Promise<readonly ErasureRecord[]>;
}
