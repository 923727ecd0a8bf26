// Encryption of contents with a family's key: authenticated, and bound to the place where the content is stored.

export interface ContentCipher {
  /** The bytes of a random key. */
  newKey(): Uint8Array;
  /** Made once for a key that is used often: a sealing whose key is made ready for it costs three times as much. */
  withKey(bytes: Uint8Array): ContentKey;
}

/** A key that is ready to seal and open. */
export interface ContentKey {
  /** The sealed text is printable and has no line feed. Sealing the same text again gives another one. */
  sealText(place: string, text: string): string;
  /** @throws when another key has sealed it, or for another place, or it was altered. */
  openText(place: string, sealed: string): string;
  sealBytes(place: string, bytes: Uint8Array): Uint8Array;
  /** @throws as `openText`. */
  openBytes(place: string, sealed: Uint8Array): Uint8Array;
}
