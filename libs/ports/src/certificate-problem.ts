// What is wrong between two ends of TLS, in words for the person who can mend it. Known by the code that Node gives, never by
// words; the error may be wrapped by whoever noticed it first.
const words: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Its certificate has expired: renew it there, or set the clock of this machine.',
  CERT_NOT_YET_VALID: 'Its certificate is not valid yet: set the clock of this machine, or wait.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another host name than the one in this setting.',
  EPROTO: 'It does not speak TLS on this port, or not ours.',
};
const unknownAuthority =
  'Its certificate is signed by nobody whom this process knows: name the certificate of the authority in NODE_EXTRA_CA_CERTS.';
const unknownAuthorityCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);
const depthMax = 8;

/** Null when the error, and whatever caused it, is about something else. */
export function certificateProblem(error: unknown, depth = 0): string | null {
  if (typeof error !== 'object' || error === null || depth > depthMax) return null;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  const name = String(code);
  if (unknownAuthorityCodes.has(name)) return unknownAuthority;
  if (name.startsWith('ERR_SSL_')) return words['EPROTO'] ?? null;
  return words[name] ?? certificateProblem(cause, depth + 1);
}
