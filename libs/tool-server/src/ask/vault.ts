/**
 * Owns: encryption at rest. Every secret of another party (callback URLs, arguments, tokens, PKCE verifiers, bodies
 * that wait for delivery) is a sealed blob in the database.
 * Not here: which columns are sealed; each store decides.
 *
 * V1. AES-256-GCM with a fresh nonce; the purpose is authenticated too, so a blob of one column does not open in
 *     another. T32 T42
 * V2. A blob that does not open is a fault, never an absent value.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;
/** Length of the key that a vault is opened with. */
export const vaultKeyBytes = 32;

/** What a sealed blob is for. */
export type SealedFor =
  | 'check'
  | 'secret'
  | 'call'
  | 'answer'
  | 'message'
  | 'subscription'
  | 'memory'
  | 'authorization'
  | 'token'
  | 'question'
  | 'handover';

export interface Vault {
  readonly seal: (purpose: SealedFor, value: unknown) => Uint8Array;
  /** @throws Error if the blob was sealed with another key, for another purpose, or was changed (V2). */
  readonly open: (purpose: SealedFor, blob: unknown) => unknown;
  /** A keyed hash, for looking up a value that must not be stored as it is. */
  readonly digest: (text: string) => string;
}

export function createVault(key: Uint8Array): Vault {
  if (key.length !== vaultKeyBytes) throw new RangeError(`the encryption key must have ${vaultKeyBytes} bytes`);
  const sealing = Buffer.from(hkdfSync('sha256', key, '', 'seal', 32));
  const hashing = Buffer.from(hkdfSync('sha256', key, '', 'digest', 32));
  return {
    seal(purpose, value) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce).setAAD(Buffer.from(purpose)); // (V1)
      const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(purpose, blob) {
      if (!(blob instanceof Uint8Array)) throw new TypeError('a sealed value is not a blob'); // (V2)
      const bytes = Buffer.from(blob);
      const decipher = createDecipheriv('aes-256-gcm', sealing, bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes, // a blob that was cut short has no shorter tag
      });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const opened = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
      return JSON.parse(opened.toString('utf8')) as unknown;
    },
    digest: (text) => createHmac('sha256', hashing).update(text).digest('base64url'),
  };
}
