// HMAC-SHA-256 under a key that is imported once.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

export type HashKey = KeyObject;

export const hashKeyOf = (secret: Uint8Array): HashKey => createSecretKey(secret);

/** 32 bytes; text is hashed as UTF-8. */
export const keyedHash = (key: HashKey, data: string | Uint8Array): Buffer =>
  createHmac('sha256', key).update(data).digest();
