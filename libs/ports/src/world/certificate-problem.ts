// Describes a TLS problem between two ends, for the operator who repairs it. Recognised by Node's error code, never by
// its text; the error may be wrapped by the library that reported it.

/** The settings that the description names. */
export interface TlsSettings {
  /** Names the setting with the authorities whose certificates this process trusts. */
  readonly authority: string;
  /** Names the setting with this process's own certificate. */
  readonly certificate: string;
}

const theirs: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Its certificate has expired: renew it there, or set the clock of this machine.',
  CERT_NOT_YET_VALID: 'Its certificate is not valid yet: set the clock of this machine, or wait.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another host name than the one in this setting.',
};
const notTls = 'It does not speak TLS on this port, or not ours.';

const unknownAuthorityCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** Alerts about our certificate, or its absence. Servers differ in which alert they send, OpenSSL in their names. */
const oursIsMissing = /_ALERT_CERTIFICATE_REQUIRED$/;
const oursHasExpired = /_ALERT_CERTIFICATE_EXPIRED$/;
const oursIsRefused =
  /_ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_UNKNOWN|UNKNOWN_CA|ACCESS_DENIED)$/;
const depthMax = 8;

/** Null when the error, and its causes, are about something else. */
export function certificateProblem(error: unknown, settings: TlsSettings, depth = 0): string | null {
  if (typeof error !== 'object' || error === null || depth > depthMax) return null;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  const name = String(code);
  if (unknownAuthorityCodes.has(name))
    return `Its certificate is signed by nobody whom this process knows: name the certificate of the authority in ${settings.authority}.`;
  if (oursIsMissing.test(name)) return `It wants a certificate of ours: name one in ${settings.certificate}.`;
  if (oursHasExpired.test(name)) return `Our certificate has expired: renew the one in ${settings.certificate}.`;
  if (oursIsRefused.test(name))
    return `It does not accept our certificate, or wants one: see ${settings.certificate}, and whom it trusts.`;
  if (name === 'EPROTO' || name.startsWith('ERR_SSL_')) return notTls;
  return theirs[name] ?? certificateProblem(cause, settings, depth + 1);
}
