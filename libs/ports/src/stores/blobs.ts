// Payloads too large for the log, by SHA-256 of their bytes. Content-addressed: storing twice is storing once.
export interface Blobs {
  /** Resolves when durable: true when it was not there before. */
  put(tenant: string, sha256: string, bytes: Uint8Array, mediaType: string): Promise<boolean>;
  get(tenant: string, sha256: string): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | null>;
}
