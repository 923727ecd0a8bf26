// Encryption of contents with a family's key: authenticated, and bound to the place where the content is stored.

export interface ContentCipher {
  /** A random key. */
  newKey(): Uint8Array;
  /** The sealed text is printable and has no line feed. Sealing the same text again gives another one. */
  sealText(key: Uint8Array, place: string, text: string): string;
  /** @throws when another key has sealed it, or for another place, or it was altered. */
  openText(key: Uint8Array, place: string, sealed: string): string;
  sealBytes(key: Uint8Array, place: string, bytes: Uint8Array): Uint8Array;
  /** @throws as `openText`. */
  openBytes(key: Uint8Array, place: string, sealed: Uint8Array): Uint8Array;
}
