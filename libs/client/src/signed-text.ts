// What the keys of the audit have signed: roots of exports, and certificates of erasures.

/** A public Ed25519 key as RFC 8037 has it. */
export interface AuditKey {
  readonly kid: string;
  readonly x: string;
}

export async function isSigned(text: string, signature: unknown, { x }: AuditKey): Promise<boolean> {
  const bytes = typeof signature === 'string' ? bytesOf(signature) : null;
  if (bytes === null) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x };
  const key = await crypto.subtle.importKey('jwk', jwk, { name: 'Ed25519' }, false, ['verify']);
  return crypto.subtle.verify({ name: 'Ed25519' }, key, bytes, new TextEncoder().encode(text));
}

/** Null where it is no base64url. */
function bytesOf(base64url: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]*$/.test(base64url) || base64url.length % 4 === 1) return null;
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** RFC 8785: members sorted at every level, values as ECMAScript writes them. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each !== 'object' || each === null || Array.isArray(each)
      ? each
      : Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1))),
  );
