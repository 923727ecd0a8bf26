// Payloads too large for the log, by SHA-256 of their bytes. Content-addressed: storing twice is storing once.
export interface Blobs {
  /** Resolves when durable. */
  put(tenant: string, sha256: string, bytes: Uint8Array, mediaType: string): Promise<void>;
  get(tenant: string, sha256: string): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
}
