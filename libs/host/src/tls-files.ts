// The certificate and key files that settings name: read once, at the start, and validated there.
//
// Invariants:
//   F1. A file that cannot be read or used is a problem of the setting that names it, reported with all others.
//   F2. No path and no contents are repeated in a message. (config.ts C3)
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A setting that names a PEM file; its value is the file's text. (F1) */
const pemFile = (problemOf: (text: string) => string | null) =>
  z
    .string()
    .min(1)
    .transform((path, context) => {
      const text = textOf(path);
      const problem = text === null ? 'names a file that cannot be read' : problemOf(text);
      if (text !== null && problem === null) return text;
      context.addIssue({ code: 'custom', message: problem ?? '' });
      return z.NEVER;
    })
    .optional();

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // that is the problem, whatever the reason
  }
}

/** Certificates of the trusted authorities, one after another. One of many may have expired. */
export const authoritiesFile = pemFile((text) => {
  const certificates = certificatesIn(text);
  if (certificates === null) return noCertificate;
  return certificates.every(hasExpired) ? 'names certificates that have expired' : null;
});

/** Our own certificate, followed by those between it and its authority. */
export const certificateFile = pemFile((text) => {
  const [own] = certificatesIn(text) ?? [];
  if (own === undefined) return noCertificate;
  return hasExpired(own) ? 'names a certificate that has expired: renew it' : null;
});

export const privateKeyFile = pemFile((text) => {
  try {
    createPrivateKey(text);
    return null;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === 'ERR_MISSING_PASSPHRASE'
      ? 'names a private key with a passphrase: give one without'
      : 'names a file without a private key in PEM';
  }
});

const noCertificate = 'names a file without a certificate in PEM';

/** Null when there is none, or one of them is damaged. */
function certificatesIn(text: string): readonly X509Certificate[] | null {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.length === 0 ? null : blocks.map((block) => new X509Certificate(block));
  } catch {
    return null;
  }
}

const hasExpired = ({ validTo }: X509Certificate): boolean => Date.parse(validTo) < Date.now();

export interface TlsFiles {
  readonly authorities: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** The problem of the files together; `name` is the setting without its suffix, `isOn` whether they would be used. */
export function tlsFilesProblems(name: string, files: TlsFiles, isOn: boolean, turnOn: string): readonly string[] {
  const { authorities, certificate, key } = files;
  const first = Object.entries({ CA: authorities, CERT: certificate, KEY: key }).find(
    ([, text]) => text !== undefined,
  )?.[0];
  if (first === undefined) return [];
  if (!isOn) return [`${name}_${first}_FILE: is of no use without TLS: ${turnOn}`];
  if (certificate !== undefined && key === undefined) return [`${name}_KEY_FILE: is needed with ${name}_CERT_FILE`];
  if (key !== undefined && certificate === undefined) return [`${name}_CERT_FILE: is needed with ${name}_KEY_FILE`];
  if (certificate === undefined || key === undefined) return [];
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
    ? []
    : [`${name}_KEY_FILE: is not the key of the certificate in ${name}_CERT_FILE`];
}

/** In the form that Node expects. Named authorities replace those of the system. */
export const tlsOptions = ({ authorities, certificate, key }: TlsFiles) => ({
  ...(authorities === undefined ? {} : { ca: authorities }),
  ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
});
