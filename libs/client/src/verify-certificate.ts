// Checks the certificate of an erasure offline: an independent implementation, written from its description.
//
// `signature` is Ed25519, base64url, over the RFC 8785 JSON of the other members; `kid` names the key.
import { type AuditKey, canonical, isSigned } from './signed-text.ts';

/** Null where the certificate is as it was signed. */
export async function certificateComplaint(certificate: unknown, keys: readonly AuditKey[]): Promise<string | null> {
  if (
    typeof certificate !== 'object' ||
    certificate === null ||
    !('signature' in certificate) ||
    !('kid' in certificate)
  )
    return 'is no certificate of an erasure';
  const { signature, ...signed } = certificate;
  const key = keys.find(({ kid }) => kid === signed.kid);
  if (key === undefined) return `was signed with the key ${String(signed.kid)}, which is not among the given ones`;
  return (await isSigned(canonical(signed), signature, key)) ? null : 'was changed: its signature does not fit it';
}
