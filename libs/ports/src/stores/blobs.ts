// Payloads too large for the log, by SHA-256 of their bytes. Content-addressed: storing twice is storing once.
//
// Contract (contracts/blobs.contract.ts, contracts/thread-remover.contract.ts):
//   B1. A blob goes with the last of the threads that its puts have named. One that was put without a thread stays as
//       long as its tenant, or until it is removed.
import type { TenantId } from '@dormouse/thread';

export interface StoredBlob {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

export interface Blobs {
  /**
   * Resolves when durable: true when it was not there before. `thread`: whose log is going to name it. (B1)
   */
  put(tenant: TenantId, sha256: string, bytes: Uint8Array, mediaType: string, thread?: string): Promise<boolean>;
  /** `thread`: whose log names it. A store that keeps the payloads of families apart finds it by this alone. */
  get(tenant: TenantId, sha256: string, thread?: string): Promise<StoredBlob | null>;
  /** Whatever threads have named it. Resolves when durable. */
  remove(tenant: TenantId, sha256: string): Promise<void>;
}
