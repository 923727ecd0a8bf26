// Signs the roots of audits, with a key that follows from the master key.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { AuditSigner } from '@dormouse/runtime';

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The first key signs; those of before are among the public ones. A seed has 32 bytes. */
export function createAuditSigner(seed: Uint8Array, before: readonly Uint8Array[] = []): AuditSigner {
  const signer = signerOf(seed);
  const others = before.flatMap((each) => signerOf(each).keys.keys);
  return { ...signer, keys: { keys: [...signer.keys.keys, ...others] } };
}

function signerOf(seed: Uint8Array): AuditSigner {
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  // The thumbprint of RFC 7638: the required members in order.
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  return {
    kid,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
    keys: { keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }] },
  };
}
