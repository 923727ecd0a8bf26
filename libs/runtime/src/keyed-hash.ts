// HMAC-SHA-256 with a key that is made ready once: on the hot path its two pads cost more than the hash. RFC 2104
import { hash } from 'node:crypto';

const blockBytes = 64;

/** A key with its pads laid out. */
export interface HashKey {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

export function hashKeyOf(secret: Uint8Array): HashKey {
  const block = new Uint8Array(blockBytes);
  block.set(secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret);
  return { inner: block.map((byte) => byte ^ 0x36), outer: block.map((byte) => byte ^ 0x5c) };
}

/** 32 bytes. */
export function keyedHash({ inner, outer }: HashKey, data: string | Uint8Array): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const within = hash('sha256', Buffer.concat([inner, bytes]), 'buffer');
  return hash('sha256', Buffer.concat([outer, within]), 'buffer');
}
