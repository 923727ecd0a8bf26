// AES-256-GCM: for the contents of families (port: ports/content-cipher.ts), and for values at rest (sealer.ts).
//
// Invariants:
//   C1. Every sealing has a random nonce of its own. One key seals far fewer than 2^32 texts: the contents of one
//       family, or as a master key the keys of the families and what people have entrusted.
//   C2. The place is authenticated and not stored: what is moved to another place does not open.
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto';
import type { ContentCipher, ContentKey } from '@dormouse/ports';

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = nonceBytes + tagBytes;

// Fetched in blocks: twelve bytes cost as much as thousands.
const block = Buffer.alloc(nonceBytes * 512);
let used = block.length;

/** Good until the next one is taken. (C1) */
function newNonce(): Buffer {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += nonceBytes;
  return block.subarray(used - nonceBytes, used);
}

/** Nonce, tag and sealed bytes. */
export function sealWith(key: KeyObject, place: string, content: string | Uint8Array): Buffer {
  const nonce = newNonce();
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(place)); // (C2)
  const sealed = typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content);
  const rest = cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed, rest]);
}

/** @throws when another key has sealed it, or at another place, or it was altered. */
export function openWith(key: KeyObject, place: string, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(nonceBytes, headBytes));
  return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]);
}

function withKey(bytes: Uint8Array): ContentKey {
  const key = createSecretKey(bytes);
  return {
    sealText: (place, text) => sealWith(key, place, text).toString('base64'),
    openText: (place, sealed) => openWith(key, place, Buffer.from(sealed, 'base64')).toString('utf8'),
    sealBytes: (place, content) => sealWith(key, place, content),
    openBytes: (place, sealed) => openWith(key, place, sealed),
  };
}

export const contentCipher: ContentCipher = {
  newKey: () => new Uint8Array(randomBytes(keyBytes)),
  withKey,
};
