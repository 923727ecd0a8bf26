import { describe, expect, it } from 'vitest';
import { certificateProblem } from './certificate-problem.ts';

const coded = (code: unknown, cause?: unknown): Error => Object.assign(new Error('x', { cause }), { code });

const settings = { authority: 'CA_FILE', certificate: 'CERT_FILE' };

describe('what is wrong with a certificate', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'name the certificate of the authority in CA_FILE'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'It wants a certificate of ours: name one in CERT_FILE'],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'Our certificate has expired: renew the one in CERT_FILE'],
    ['ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN', 'It does not accept our certificate, or wants one: see CERT_FILE'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'It does not accept our certificate, or wants one: see CERT_FILE'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ])('is said by its code: %s', (code, words) => {
    expect(certificateProblem(coded(code), settings)).toContain(words);
  });

  it('is found below what was made of it', () => {
    expect(certificateProblem(coded(undefined, coded('E', coded('CERT_HAS_EXPIRED'))), settings)).toContain(
      'has expired',
    );
  });

  it.each([null, 'CERT_HAS_EXPIRED', coded('ECONNREFUSED'), coded(11_000), {}])('is not seen in %s', (error) => {
    expect(certificateProblem(error, settings)).toBeNull();
  });

  it('is not looked for without end', () => {
    const ring = coded('E');
    ring.cause = ring;
    expect(certificateProblem(ring, settings)).toBeNull();
  });
});
